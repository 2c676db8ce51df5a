/** Opens the backend of an engine. Each is loaded when it is used. */

import type { Backend, OnProgress, Place } from "./backend.ts";

export type { Backend, Copy, Place, Rollout } from "./backend.ts";

const BACKENDS = {
  kubernetes: async () => (await import("./kubernetes.ts")).kubernetes,
  swarm: async () => (await import("./swarm.ts")).swarm,
  systemd: async () => (await import("./systemd.ts")).systemd,
};

/** An engine that commands can be sent to. */
export type DrivenEngine = keyof typeof BACKENDS;

/** The backend of an engine. */
export async function openBackend(
  engine: DrivenEngine,
  place: Place,
  onProgress: OnProgress,
): Promise<Backend> {
  return (await BACKENDS[engine]())(place, onProgress);
}
