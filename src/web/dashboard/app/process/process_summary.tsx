/** The summary of a process: the reasons for its state, and its figures. */

import { useLayoutEffect, useRef } from "preact/hooks";
import type { Sample } from "./history.ts";
import { mean, type Series, useEvents, useSeries } from "../data/past.ts";
import { linkTo, range } from "../data/router.ts";
import { usePolled } from "../data/polled.ts";
import { clock } from "../data/store.ts";
import type { ProcessJson } from "../../../../protocol/wire.ts";
import { Facts, Table } from "../controls/controls.tsx";
import { RangePicker } from "../controls/range_picker.tsx";
import { RestartsToday } from "../timeline/events.tsx";
import { Chart, marksOf } from "../host/chart.tsx";
import { plainLine } from "../logs/ansi.ts";
import {
  bytes,
  clockTime,
  dateTime,
  exactPercent,
  exitText,
  percent,
  relative,
  span,
} from "../data/format.ts";

export function Summary({ process }: { process: ProcessJson }) {
  return (
    <div class="two">
      <Why process={process} />
      <FactsPanel process={process} />
    </div>
  );
}

/** Refresh often: the answer contains durations. */
const WHY_MS = 2000;

function Why({ process }: { process: ProcessJson }) {
  const { name, state, restarts, health, last_reason } = process;
  const key = [state, restarts, health, last_reason].join();
  const { data, error } = usePolled("why", { target: name }, WHY_MS, key);
  const [first, ...more] = data.value?.reasons ?? [];
  const line = data.value?.error_line;
  const lines = data.value?.last_output ?? [];
  return (
    <section class="panel" aria-labelledby="why">
      <h2 id="why">Why</h2>
      {error.value && <p class="bad">{error}</p>}
      {first && <p class="why">{first}</p>}
      {line && (
        <p class="bad">
          <code>{plainLine(line)}</code>
        </p>
      )}
      {more.length > 0 && (
        <ul class="reasons">{more.map((reason) => <li key={reason}>{reason}</li>)}</ul>
      )}
      {health === "unhealthy" && (
        <p>
          <span class="bad">Its health checks fail:</span>{" "}
          <a href={linkTo(["processes", name], "tab=health")}>what they say</a>
        </p>
      )}
      <RestartsToday target={name} />
      {lines.length > 0 && (
        <>
          <h3>
            Last lines <a class="small" href={linkTo(["processes", name], "tab=logs")}>Full log</a>
          </h3>
          <LastWords text={lines.map(plainLine).join("\n")} />
        </>
      )}
    </section>
  );
}

/** Keeps the end in view until the user scrolls up. */
function LastWords({ text }: { text: string }) {
  const frame = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    if (isAtEnd.current) frame.current!.scrollTop = frame.current!.scrollHeight;
  }, [text]);
  const look = () => {
    const { scrollTop, clientHeight, scrollHeight } = frame.current!;
    isAtEnd.current = scrollTop + clientHeight >= scrollHeight - 2;
  };
  return <pre ref={frame} class="stderr" tabIndex={0} onScroll={look}>{text}</pre>;
}

const CRON_MS = 30_000;

/** The next cron run or restart, if any. */
function NextCron({ process: { name, started_at } }: { process: ProcessJson }) {
  const { data } = usePolled("cron_list", { name }, CRON_MS, started_at);
  const job = data.value?.find((one) => one.name === name);
  if (job === undefined) return null;
  const { type, next_run, schedule, enabled } = job;
  return (
    <div>
      <dt>{type === "job" ? "Next run" : "Next restart"}</dt>
      <dd>
        {next_run === null
          ? enabled ? "–" : "disabled"
          : `${dateTime(Date.parse(next_run))}, ${relative(Date.parse(next_run), clock.value)}`}
        {" "}
        <code>{schedule}</code>
      </dd>
    </div>
  );
}

function FactsPanel({ process }: { process: ProcessJson }) {
  const { id, pid, started_at, finished_at, next_restart_at, last_exit, tags, config } = process;
  const now = clock.value;
  const command = [config.entrypoint, ...(config.args as string[] | undefined ?? [])].join(" ");
  const facts: [string, string][] = [
    ["Id", `${process.numeric_id} · ${id}`],
    ["Pid", pid === 0 ? "–" : String(pid)],
    ["Up", pid === 0 || started_at === null ? "–" : span(now - Date.parse(started_at))],
    ["Started", started_at === null ? "never" : dateTime(Date.parse(started_at))],
    ["Ended", finished_at === null || pid !== 0 ? "" : dateTime(Date.parse(finished_at))],
    [
      "Next start",
      next_restart_at === null || process.state !== "waiting"
        ? ""
        : relative(Date.parse(next_restart_at), now),
    ],
    [
      "Last exit",
      last_exit === null
        ? ""
        : `${exitText(last_exit)}, ${relative(Date.parse(last_exit.at), now)}`,
    ],
    ["Restarts", String(process.restarts)],
    ["Threads", pid === 0 ? "" : String(process.threads)],
    ["Open files", pid === 0 ? "" : String(process.fds)],
    ["Namespace", process.namespace],
    ["Tags", tags.map((tag) => `#${tag}`).join(" ")],
    ["Runtime", process.runtime],
    ["Command", command],
    ["Folder", String(config.cwd ?? "")],
  ];
  return (
    <section class="panel" aria-labelledby="facts">
      <h2 id="facts">Facts</h2>
      <Facts facts={facts.filter(([, text]) => text !== "")}>
        {(config.cron ?? config.cron_restart) !== undefined && <NextCron process={process} />}
      </Facts>
    </section>
  );
}

const TABLE_ROWS = 20;
const EVENTS = 300;

const whole = (value: number) => String(Math.round(value));

/** The charts of processes. */
export const FIGURES = [
  { title: "CPU", of: "cpu", format: percent, most: 5 },
  { title: "Memory", of: "memory", format: bytes, most: 1024 ** 2 },
  { title: "Threads", of: "threads", format: whole, most: 4 },
  { title: "Open files", of: "fds", format: whole, most: 8 },
] as const;

/** Charts of an app's total usage, and the last readings as a table. */
export function ProcessCharts(
  { name, members }: { readonly name: string; readonly members: readonly ProcessJson[] },
) {
  const series = useSeries(range.value, name, members.map(({ id }) => id));
  const { data } = useEvents({ target: name, limit: EVENTS }, range.value);
  const common = { lines: [series], name, marks: marksOf(data.value?.events ?? []) };
  return (
    <section class="stack" aria-label="Usage">
      <div class="row wrap">
        <RangePicker />
        <Shares series={series} />
        <span class="faint small">
          ▲ start ■ end ✕ failure · a click opens the log, a drag zooms in
        </span>
      </div>
      <div class="charts">
        {FIGURES.map((figure) => <Chart key={figure.of} {...common} {...figure} />)}
      </div>
      <details>
        <summary>As a table</summary>
        <SampleTable samples={series.samples.slice(-TABLE_ROWS)} />
      </details>
    </section>
  );
}

/** Shares of the range in which it ran and was healthy. */
function Shares({ series: { samples } }: { series: Series }) {
  const up = mean(samples.map(({ up }) => up));
  const healthy = mean(samples.map(({ healthy }) => healthy));
  if (up === undefined) return null;
  return (
    <span class="number">
      Up {exactPercent(up * 100)}
      {healthy !== undefined && ` · healthy ${exactPercent(healthy * 100)}`}{" "}
      <span class="faint small">of the measured time</span>
    </span>
  );
}

const HEADINGS = [
  "Time",
  ...["CPU", "Memory", "Threads", "Open files"].map((text) => [text, "number"] as const),
];

function SampleTable({ samples }: { samples: readonly Sample[] }) {
  return (
    <Table caption="The newest readings" headings={HEADINGS}>
      <tbody>
        {samples.filter(({ cpu }) => cpu !== undefined).toReversed().map((
          { at, cpu = 0, memory = 0, threads, fds },
        ) => (
          <tr key={at}>
            <th scope="row">{clockTime(at)}</th>
            <td class="number">{percent(cpu)}</td>
            <td class="number">{bytes(memory)}</td>
            <td class="number">{threads}</td>
            <td class="number">{fds}</td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}
