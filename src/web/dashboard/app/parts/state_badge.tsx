/** A state as word, shape and colour, so that none of them is needed. */

import type { ProcessJson, State } from "../data/types.ts";

const SHAPES: Readonly<Record<State, string>> = {
  running: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2z",
  starting: "M8 1.5a6.5 6.5 0 1 0 0 13v-2a4.5 4.5 0 0 1 0-9zM8 1.5a6.5 6.5 0 0 1 0 13z",
  stopping: "M8 1.5a6.5 6.5 0 1 1 0 13v-2a4.5 4.5 0 0 0 0-9zM8 1.5a6.5 6.5 0 0 0 0 13z",
  stopped: "M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zm0 2a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9z",
  waiting: "M3 1h10v3L9.5 8l3.5 4v3H3v-3l3.5-4L3 4z",
  crashed: "M8 1l7.5 13.5H.5z",
  errored: "M4.8 1h6.4L15 4.8v6.4L11.2 15H4.8L1 11.2V4.8z",
};

/** The shape alone. */
export function StateShape({ state, size = 10 }: { state: State; size?: number }) {
  return (
    <svg
      class={`shape is-${state}`}
      width={size}
      height={size}
      viewBox="0 0 16 16"
      aria-hidden="true"
    >
      <path d={SHAPES[state]} />
    </svg>
  );
}

/** Shape and word. */
export function StateBadge({ state }: { state: State }) {
  return (
    <span class={`badge is-${state}`}>
      <StateShape state={state} />
      {state}
    </span>
  );
}

/** What the health checks say, where there are any. */
export function HealthBadge(
  { process }: { process: Pick<ProcessJson, "health" | "state" | "ready"> },
) {
  const { health, state, ready } = process;
  if (health === "healthy") return <span class="health is-healthy">✓ healthy</span>;
  if (health === "unhealthy") return <span class="health is-unhealthy">✗ unhealthy</span>;
  if (state === "running" && !ready) return <span class="health">not ready</span>;
  return null;
}
