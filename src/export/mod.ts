/** The engines that the program offers: all that it knows of this member. */

import { ProcsupError } from "../model/errors.ts";
import type { Backend, Place } from "./backends/backend.ts";

export type { Backend, Copy, Rollout } from "./backends/backend.ts";
export type { Exported, ExportedFile, ExportRequest } from "./export_stack.ts";

interface EngineRow {
  /** Flags that have no meaning for all engines. */
  readonly flags: readonly string[];
  /** Loads the commands with `--on`. An engine without them only gets files. */
  readonly backend?: () => Promise<new (place: Place) => Backend>;
}

/** In the order of the help. */
const ROWS = {
  kubernetes: {
    flags: ["context", "cluster-namespace", "image"],
    backend: async () => (await import("./backends/kubernetes.ts")).Kubernetes,
  },
  swarm: {
    flags: ["context", "image", "ports"],
    backend: async () => (await import("./backends/swarm.ts")).Swarm,
  },
  compose: { flags: ["image"] },
  nomad: { flags: ["image"] },
  systemd: {
    flags: [],
    backend: async () => (await import("./backends/systemd.ts")).Systemd,
  },
  dockerfile: { flags: ["base"] },
} satisfies Readonly<Record<string, EngineRow>>;

const ENGINES: Readonly<Record<string, EngineRow>> = ROWS;

/** What a configuration can be exported to. */
export const EXPORTS = Object.keys(ROWS) as readonly (keyof typeof ROWS)[];

/** The engines that commands can be sent to. */
export const DRIVEN: readonly string[] = EXPORTS
  .filter((name) => ENGINES[name]!.backend !== undefined);

/** The engines that a flag of exports is for; undefined if it is for all. */
export function enginesOf(flag: string): readonly string[] | undefined {
  const own = EXPORTS.filter((name) => ENGINES[name]!.flags.includes(flag));
  return own.length === 0 ? undefined : own;
}

/**
 * Opens the backend of an engine for the named stack, or the stack of a folder. Loads only that
 * backend. Throws `invalid_config` for an engine that the contexts file misspells.
 */
export async function openBackend(
  { on, ...place }: Partial<Place> & { readonly on: string },
  folder: string,
): Promise<Backend> {
  const load = DRIVEN.includes(on) ? ENGINES[on]!.backend : undefined;
  if (load === undefined) {
    throw new ProcsupError("invalid_config", `A context names the unknown engine "${on}"`, {
      hint: `One of: ${DRIVEN.join(", ")}`,
    });
  }
  const [Engine, { stackName }] = await Promise.all([load(), import("./stack.ts")]);
  return new Engine({ ...place, stack: stackName(folder, place.stack) });
}

/** Loads the conversion to the files of an engine. */
export function loadExport() {
  return import("./export_stack.ts");
}

/** Loads the class that runs an engine's own client. */
export function loadClient() {
  return import("./client.ts");
}
