/** Opens the backend of an engine. Loads only that backend. */

import { ProcsupError } from "../../model/errors.ts";
import { stackName } from "../stack.ts";
import type { Backend, Place } from "./backend.ts";

export type { Backend, Copy, Rollout } from "./backend.ts";

const BACKENDS = {
  kubernetes: async () => (await import("./kubernetes.ts")).Kubernetes,
  swarm: async () => (await import("./swarm.ts")).Swarm,
  systemd: async () => (await import("./systemd.ts")).Systemd,
};

/** An engine that commands can be sent to. */
export type DrivenEngine = keyof typeof BACKENDS;

/**
 * Opens a backend for the named stack, or the stack of a folder. Throws `invalid_config` for an
 * engine that the contexts file misspells.
 */
export async function openBackend(
  { on, ...place }: Partial<Place> & { readonly on: string },
  folder: string,
): Promise<Backend> {
  if (!Object.hasOwn(BACKENDS, on)) {
    throw new ProcsupError("invalid_config", `A context names the unknown engine "${on}"`, {
      hint: `One of: ${Object.keys(BACKENDS).join(", ")}`,
    });
  }
  const Engine = await BACKENDS[on as DrivenEngine]();
  return new Engine({ ...place, stack: stackName(folder, place.stack) });
}
