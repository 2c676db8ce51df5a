/** Usage of processes and the host since the page was opened, at most two minutes. Pure. */

/** What charts show: CPU in percent, memory in bytes, and for the host the load of one minute. */
export type Figure = "cpu" | "memory" | "fds" | "threads" | "load";

/** A reading; unknown figures are missing. */
export interface Sample extends Readonly<Partial<Record<Figure, number>>> {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Shares of the time in which it ran, and was healthy; undefined without measurement. */
  readonly up?: number | undefined;
  readonly healthy?: number | undefined;
}

/** Readings by the id of a process, the oldest first. */
export type Samples = ReadonlyMap<string, readonly Sample[]>;

/** Key of the host's own readings. */
export const HOST = "";

/** How long readings are kept, and their minimum distance: pushes may come in quick succession. */
const KEPT_MS = 120_000;
const STEP_MS = 900;

/** The readings with one more for each key. */
export function withSamples(
  samples: Samples,
  added: readonly (readonly [key: string, sample: Sample])[],
): Samples {
  const next = new Map(samples);
  for (const [key, sample] of added) {
    const list = samples.get(key) ?? [];
    const last = list.at(-1);
    if (last !== undefined && sample.at - last.at < STEP_MS) continue;
    next.set(key, [...list.filter(({ at }) => at > sample.at - KEPT_MS), sample]);
  }
  return next;
}

/** The readings of the processes that are left. */
export function keepOnly(samples: Samples, keys: { has(key: string): boolean }): Samples {
  if ([...samples.keys()].every((key) => key === HOST || keys.has(key))) return samples;
  return new Map([...samples].filter(([key]) => key === HOST || keys.has(key)));
}
