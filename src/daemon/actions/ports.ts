/** `ports`: what the processes listen on. */

import { listeningPorts } from "../../platform/listening_ports.ts";
import type { PortsJson } from "../../protocol/web_actions.ts";
import type { ActionContext } from "./context.ts";

/** Many may look at once; what they see is at most so old. */
const MAX_AGE_MS = 2000;

let last: { readonly at: number; readonly answer: readonly PortsJson[] } | undefined;

/** Every process that listens on a port. */
export function ports({ manager }: ActionContext): readonly PortsJson[] {
  const now = performance.now();
  if (last === undefined || now - last.at > MAX_AGE_MS) last = { at: now, answer: read(manager) };
  return last.answer;
}

function read({ fleet }: ActionContext["manager"]): PortsJson[] {
  const up = fleet.registry.list().flatMap(({ name, identity, snapshot }) => {
    const root = snapshot.run?.wrapperPid;
    return root ? [{ root, name, id: identity.id.slice(0, 8) }] : [];
  });
  const found = listeningPorts(up.map(({ root }) => root));
  return up.flatMap(({ root, name, id }) => {
    const ports = found.get(root);
    return ports === undefined ? [] : [{ name, id, ports }];
  });
}
