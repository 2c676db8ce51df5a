/** The verbs on the daemon itself: saved state, token, shutdown, host and ports. */

import { ifPossible } from "../../model/errors.ts";
import { diskOf, HostMeter } from "../../platform/host.ts";
import { listeningPorts } from "../../platform/listening_ports.ts";
import type { DAEMON_VERBS } from "../../protocol/verbs/daemon.ts";
import { PROTOCOL, VERSION } from "../../protocol/version.ts";
import type { PortsJson } from "../../protocol/wire.ts";
import { type ActionContext, bulkResult, type Handlers } from "./context.ts";

const meter = new HostMeter();
const startedAt = performance.now();

export const DAEMON_ACTIONS: Handlers<keyof typeof DAEMON_VERBS> = {
  ping: () => ({ status: "ok", version: VERSION, protocol: PROTOCOL }),
  async save({ supervisor }, { allow_empty }) {
    return { status: "saved", count: await supervisor.save({ allowEmpty: allow_empty }) };
  },
  async resurrect({ supervisor }) {
    return { status: "resurrected", ...await supervisor.resurrect() };
  },
  token({ token, web }, { rotate }) {
    if (!rotate) return { token: token.value };
    const fresh = token.rotate();
    // Sessions were opened with the old token.
    web.gatekeeper.ownerChanged();
    return { token: fresh };
  },
  release({ supervisor, endDaemon, shutdownNotice }, { upgrade_to: to }) {
    supervisor.registry.refuseClosed();
    if (to !== undefined) {
      shutdownNotice.say({ type: "upgrading", at: new Date().toISOString(), from: VERSION, to });
    }
    // Send the answer first.
    setTimeout(endDaemon, 0);
    return { status: "released", pid: Deno.pid };
  },
  /** Stops all processes in reverse order, then the daemon. */
  async shutdown(context) {
    const outcomes = await context.supervisor.shutDown();
    context.shutdownNotice.say({ type: "shutdown", at: new Date().toISOString() });
    context.endDaemon();
    return bulkResult("stopped", outcomes);
  },
  system_metrics({ supervisor }) {
    const { hostname, platform, arch, ...figures } = meter.read();
    return {
      ...figures,
      process_count: supervisor.registry.list().length,
      hostname,
      platform,
      arch,
      daemon: {
        pid: Deno.pid,
        version: VERSION,
        memory_bytes: Deno.memoryUsage().rss,
        uptime_seconds: Math.floor((performance.now() - startedAt) / 1000),
        restarts_last_hour: supervisor.registry.restartsLastHour,
      },
    };
  },
  async system_info({ paths }) {
    const { total, available } = await diskOf(paths.home);
    return {
      home: paths.home,
      socket: paths.socket,
      saved_at: modifiedAt(paths.saved),
      disk_total: total,
      disk_available: available,
    };
  },
  async contexts({ paths }) {
    const { readAllContexts } = await import("../all_contexts.ts");
    return await readAllContexts(paths.home);
  },
  ports({ supervisor }) {
    const now = performance.now();
    if (last === undefined || now - last.at > MAX_AGE_MS) {
      last = { at: now, answer: readPorts(supervisor) };
    }
    return last.answer;
  },
};

function modifiedAt(path: string): string | null {
  return ifPossible(() => Deno.statSync(path).mtime?.toISOString()) ?? null;
}

/** How long an answer is reused: many clients may ask at once. */
const MAX_AGE_MS = 2000;

let last: { readonly at: number; readonly answer: readonly PortsJson[] } | undefined;

function readPorts(supervisor: ActionContext["supervisor"]): PortsJson[] {
  const up = supervisor.registry.list().flatMap(({ name, identity, snapshot }) => {
    const root = snapshot.run?.wrapperPid;
    return root ? [{ root, name, id: identity.id.slice(0, 8) }] : [];
  });
  const found = listeningPorts(up.map(({ root }) => root));
  return up.flatMap(({ root, name, id }) => {
    const ports = found.get(root);
    return ports === undefined ? [] : [{ name, id, ports }];
  });
}
