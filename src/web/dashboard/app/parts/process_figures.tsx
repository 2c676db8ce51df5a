/** The figures of one process, each drawn anew by itself. */

import { recent, round } from "../data/history.ts";
import { clock, ports } from "../data/store.ts";
import type { ProcessJson } from "../data/types.ts";
import { bytes, percent, relative, span } from "../text/format.ts";
import { Sparkline } from "./sparkline.tsx";

const SHOWN_PORTS = 2;

/** What it waits for: the time of its next start, others, the clock. */
export function Awaited(
  { process: { next_restart_at, state, last_reason, config } }: { process: ProcessJson },
) {
  if (state === "stopped" && config.cron !== undefined) return <span class="health">cron</span>;
  if (state !== "waiting") return null;
  const reason = next_restart_at === null
    ? last_reason.replace(/^waiting /, "")
    : `again ${relative(Date.parse(next_restart_at), clock.value)}`;
  return <span class="health clip" title={last_reason}>{reason}</span>;
}

/** CPU now and over the last minute. */
export function Cpu({ id, now }: { id: string; now: number }) {
  round.value;
  return (
    <span class="measure">
      <Sparkline samples={recent(id, 60_000)} value={({ cpu }) => cpu} most={10} />
      <span class="number" title="CPU, percent of one core">{percent(now)}</span>
    </span>
  );
}

/** Memory now and over the last minute. */
export function Memory({ id, now }: { id: string; now: number }) {
  round.value;
  return (
    <span class="measure memory">
      <Sparkline samples={recent(id, 60_000)} value={({ memory }) => memory} most={now * 1.5} />
      <span class="number" title="Resident memory">{bytes(now)}</span>
    </span>
  );
}

/** What it listens on: the first ones, all of them on hover. */
export function Ports({ id }: { id: string }) {
  const known = ports.value.get(id) ?? [];
  if (known.length === 0) return null;
  const more = known.length - SHOWN_PORTS;
  return (
    <span class="number" title={`Listens on ${known.join(", ")}`}>
      {known.slice(0, SHOWN_PORTS).map((port) => `:${port}`).join(" ")}
      {more > 0 && <span class="faint">{` +${more}`}</span>}
    </span>
  );
}

/** How long it has been up, or when it ended. */
export function Uptime(
  { process: { state, started_at, finished_at, pid } }: { process: ProcessJson },
) {
  if (started_at !== null && pid !== 0) return <>{span(clock.value - Date.parse(started_at))}</>;
  if (state === "waiting" || finished_at === null) return <>–</>;
  return <span class="faint">{relative(Date.parse(finished_at), clock.value)}</span>;
}
