/** Opens the backend of an engine. Loads only that backend. */

import { ProcsupError } from "../../model/errors.ts";
import type { Backend, OnProgress, Place } from "./backend.ts";

export { type Backend, type Copy, type Place, type Rollout, unknownApp } from "./backend.ts";

const BACKENDS = {
  kubernetes: async () => (await import("./kubernetes.ts")).kubernetes,
  swarm: async () => (await import("./swarm.ts")).swarm,
  systemd: async () => (await import("./systemd.ts")).systemd,
};

/** An engine that commands can be sent to. */
export type DrivenEngine = keyof typeof BACKENDS;

/** Opens a backend. Throws `invalid_config` for an engine that the contexts file misspells. */
export async function openBackend(
  engine: string,
  place: Place,
  onProgress: OnProgress,
): Promise<Backend> {
  if (!Object.hasOwn(BACKENDS, engine)) {
    throw new ProcsupError("invalid_config", `A context names the unknown engine "${engine}"`, {
      hint: `One of: ${Object.keys(BACKENDS).join(", ")}`,
    });
  }
  return (await BACKENDS[engine as DrivenEngine]())(place, onProgress);
}
