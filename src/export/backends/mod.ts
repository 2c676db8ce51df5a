/** Opens the backend of an engine. Each is loaded when it is used. */

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

/** The backend of an engine. Throws `invalid_config`: the file of the contexts may have been written by hand. */
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
