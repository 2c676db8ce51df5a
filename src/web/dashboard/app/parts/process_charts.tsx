/** Figures of one process over time. */

import { useSignal } from "@preact/signals";
import { marksOf, openedAt, recent, round, type Sample } from "../data/history.ts";
import type { ProcessJson } from "../data/types.ts";
import { bytes, clockTime, percent } from "../text/format.ts";
import { Chart, fitting } from "./chart.tsx";

const SPANS = [
  [300_000, "5 minutes"],
  [900_000, "15 minutes"],
  [3_600_000, "1 hour"],
  [86_400_000, "24 hours"],
] as const;
const TABLE_ROWS = 20;

/** The charts, and the newest readings as a table. */
export function ProcessCharts({ process: { id, memory_bytes } }: { process: ProcessJson }) {
  round.value;
  const ms = useSignal<number>(300_000);
  const samples = recent(id, ms.value);
  const common = { samples, ms: fitting(samples, ms.value), marks: marksOf(id) };
  const whole = (value: number) => String(Math.round(value));
  return (
    <>
      <div class="row between wrap">
        <div class="chips" role="group" aria-label="Time that is shown">
          {SPANS.map(([length, text]) => (
            <button
              key={length}
              type="button"
              class="chip"
              aria-pressed={ms.value === length}
              onClick={() => ms.value = length}
            >
              {text}
            </button>
          ))}
        </div>
        <span class="faint small">
          ▲ start ■ end ✕ failure · since this page was opened at {clockTime(openedAt)}
        </span>
      </div>
      <div class="charts">
        <Chart {...common} title="CPU" value={({ cpu }) => cpu} format={percent} most={5} />
        <Chart
          {...common}
          title="Memory"
          value={({ memory }) => memory}
          format={bytes}
          most={memory_bytes * 1.2}
        />
        <Chart
          {...common}
          title="Threads"
          value={({ threads }) => threads}
          format={whole}
          most={4}
        />
        <Chart {...common} title="Open files" value={({ fds }) => fds} format={whole} most={8} />
      </div>
      <details>
        <summary>As a table</summary>
        <SampleTable samples={samples.slice(-TABLE_ROWS)} />
      </details>
    </>
  );
}

function SampleTable({ samples }: { samples: readonly Sample[] }) {
  return (
    <div class="table-frame">
      <table>
        <caption class="unseen">The newest readings</caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col" class="number">CPU</th>
            <th scope="col" class="number">Memory</th>
            <th scope="col" class="number">Threads</th>
            <th scope="col" class="number">Open files</th>
          </tr>
        </thead>
        <tbody>
          {samples.toReversed().map(({ at, cpu, memory, threads, fds }) => (
            <tr key={at}>
              <th scope="row">{clockTime(at)}</th>
              <td class="number">{percent(cpu)}</td>
              <td class="number">{bytes(memory)}</td>
              <td class="number">{threads}</td>
              <td class="number">{fds}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
