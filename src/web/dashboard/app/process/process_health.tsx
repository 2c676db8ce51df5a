/** The last results of the health checks and hooks of a process. */

import { Fragment } from "preact";
import { type Polled, usePolled } from "../data/polled.ts";
import type {
  HealthCheckJson,
  HistoryJson,
  HookRunJson,
  ProcessJson,
} from "../../../../protocol/wire.ts";
import { Age, Answer, Empty, Facts, Table } from "../controls/controls.tsx";
import { HealthBadge, Strip } from "./process_figures.tsx";
import { plainLine } from "../logs/ansi.ts";
import { dateTime, percent, shortSpan } from "../data/format.ts";

const EVERY_MS = 3000;

function useHistory({ name, state, health, pid }: ProcessJson): Polled<HistoryJson> {
  return usePolled("history", { target: name }, EVERY_MS, `${state} ${health} ${pid}`);
}

export function ProcessHealth({ process }: { process: ProcessJson }) {
  const history = useHistory(process);
  const config = process.config.health_check as Record<string, unknown> | undefined;
  if (config === undefined && !history.data.value?.health.length) {
    return (
      <Empty title="Nothing checks its health">
        <code>health_check: {"{ type: http, url: http://127.0.0.1:8080/healthz }"}</code>{" "}
        in its configuration does; also tcp and command.
      </Empty>
    );
  }
  return (
    <Answer of={history}>
      {({ health: checks }) => (
        <>
          <Figures process={process} config={config ?? {}} checks={checks} />
          {checks.length === 0
            ? <p class="faint">No check has run yet.</p>
            : <Checks checks={checks} />}
        </>
      )}
    </Answer>
  );
}

function Figures({ process, config, checks }: {
  readonly process: ProcessJson;
  readonly config: Readonly<Record<string, unknown>>;
  readonly checks: readonly HealthCheckJson[];
}) {
  const good = checks.filter(({ ok }) => ok);
  const times = good.map(({ latency }) => latency / 1e6).sort((a, b) => a - b);
  const what = config.url ?? config.tcp_endpoint ?? config.command ?? "";
  const slowest = Math.max(1, ...checks.map(({ latency }) => latency));
  return (
    <section class="panel">
      <div class="row wrap between">
        <div>
          <p>
            <strong>{String(config.type ?? "check")}</strong> <code>{String(what)}</code>{" "}
            <HealthBadge process={process} />
          </p>
          <p class="faint small">
            every {String(config.interval ?? "–")}, answer within{" "}
            {String(config.timeout ?? "–")}, unhealthy after {String(config.retries ?? "–")}{" "}
            failures in a row
          </p>
        </div>
        {checks.length > 0 && (
          <p class="number small">
            {percent(good.length / checks.length * 100)} of {checks.length} passed
            {times.length > 0 && (
              <span class="faint">
                {` · half within ${shortSpan(times[times.length >> 1]!)}, slowest ${
                  shortSpan(times.at(-1)!)
                }`}
              </span>
            )}
          </p>
        )}
      </div>
      {checks.length > 0 && (
        <div class="strip-frame" tabIndex={0} role="region" aria-label="Last checks">
          <Strip
            label={`${good.length} of the last ${checks.length} checks passed`}
            bars={checks.map(({ ok, at, latency, message }) => ({
              ok,
              size: latency / slowest,
              title: `${dateTime(Date.parse(at))}: ${ok ? "ok" : message}, ${
                shortSpan(latency / 1e6)
              }`,
            }))}
          />
        </div>
      )}
    </section>
  );
}

function Checks({ checks }: { checks: readonly HealthCheckJson[] }) {
  return (
    <Table
      caption="Health checks, the newest first"
      kind="history"
      headings={["When", "Result", ["Took", "number"], ["What was wrong", "wide"]]}
    >
      <tbody>
        {checks.toReversed().map(({ at, ok, message, latency }) => (
          <tr key={at}>
            <td class="number">
              <Age at={at} />
            </td>
            <td>
              <span class={ok ? "is-running" : "is-crashed"}>{ok ? "✓ ok" : "✗ failed"}</span>
            </td>
            <td class="number">{shortSpan(latency / 1e6)}</td>
            <td class="wide">{plainLine(message)}</td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

export function ProcessHooks({ process }: { process: ProcessJson }) {
  const history = useHistory(process);
  const configured = Object.entries(process.config.hooks ?? {});
  if (configured.length === 0 && !history.data.value?.hooks.length) {
    return (
      <Empty title="It has no hooks">
        <code>hooks: {'{ pre_start: { command: "./migrate" } }'}</code>{" "}
        in its configuration runs something around a start, a stop or a reload.
      </Empty>
    );
  }
  return (
    <Answer of={history}>
      {({ hooks: runs }) => (
        <>
          <section class="panel">
            <h2>Configured</h2>
            <Facts
              facts={configured.map(([hook, value]) => [
                hook,
                <Fragment key={hook}>
                  <code>{commandOf(value)}</code>{" "}
                  <Verdict run={runs.findLast((run) => run.hook === hook)} />
                </Fragment>,
              ])}
            />
          </section>
          {runs.length === 0
            ? <p class="faint">None has run since the daemon started.</p>
            : (
              <section class="panel">
                <h2>Last runs</h2>
                <ol class="runs">
                  {runs.toReversed().map((run) => <Run key={`${run.at} ${run.hook}`} run={run} />)}
                </ol>
              </section>
            )}
        </>
      )}
    </Answer>
  );
}

function Run({ run }: { run: HookRunJson }) {
  const { hook, at, duration, output } = run;
  const lines = output.trimEnd().split("\n").map(plainLine);
  return (
    <li>
      <p class="row wrap">
        <strong>{hook}</strong>
        <Verdict run={run} />
        <span class="faint small number">
          {shortSpan(duration / 1e6)} · <Age at={at} />
        </span>
      </p>
      {output.trim() !== "" && <pre class="stderr" tabIndex={0}>{lines.join("\n")}</pre>}
    </li>
  );
}

function Verdict({ run }: { run: HookRunJson | undefined }) {
  if (run === undefined) return <span class="faint small">has not run</span>;
  const { ok, exit_code, timed_out } = run;
  const why = timed_out
    ? "timed out"
    : exit_code === null
    ? "did not finish"
    : `exit code ${exit_code}`;
  return <span class={`small ${ok ? "is-running" : "is-crashed"}`}>{ok ? "✓ ok" : `✗ ${why}`}
  </span>;
}

function commandOf(value: unknown): string {
  if (typeof value === "string") return value;
  const { command, args = [] } = value as { command?: unknown; args?: unknown[] };
  return [command, ...args].flat().join(" ");
}
