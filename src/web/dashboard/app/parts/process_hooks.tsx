/** What the hooks of a process did. */

import { processPath } from "../data/api.ts";
import { usePolled } from "../data/polled.ts";
import { clock } from "../data/store.ts";
import type { HistoryJson, HookRunJson, ProcessJson } from "../data/types.ts";
import { plainLine } from "../text/ansi.ts";
import { dateTime, relative, shortSpan } from "../text/format.ts";
import { Empty, Loading } from "./empty.tsx";

const EVERY_MS = 5000;

/** The tab. */
export function ProcessHooks({ process }: { process: ProcessJson }) {
  const { name, state, pid } = process;
  const path = processPath(name, "history");
  const { data, error } = usePolled<HistoryJson>(path, EVERY_MS, `${state} ${pid}`);
  const configured = Object.entries(process.config.hooks ?? {});
  const runs = data.value?.hooks ?? [];
  if (configured.length === 0 && runs.length === 0) {
    return (
      <Empty title="It has no hooks">
        <code>hooks: {'{ pre_start: { command: "./migrate" } }'}</code>{" "}
        in its configuration runs something around a start, a stop or a reload.
      </Empty>
    );
  }
  if (error.value) return <p class="bad" role="alert">{error}</p>;
  if (data.value === undefined) return <Loading />;
  return (
    <>
      <section class="panel">
        <h2>Configured</h2>
        <dl class="facts">
          {configured.map(([hook, value]) => (
            <div key={hook}>
              <dt>{hook}</dt>
              <dd>
                <code>{commandOf(value)}</code>{" "}
                <LastRun run={runs.findLast((r) => r.hook === hook)} />
              </dd>
            </div>
          ))}
        </dl>
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
          {shortSpan(duration / 1e6)} ·{" "}
          <time title={dateTime(Date.parse(at))}>{relative(Date.parse(at), clock.value)}</time>
        </span>
      </p>
      {output.trim() !== "" && <pre class="stderr" tabIndex={0}>{lines.join("\n")}</pre>}
    </li>
  );
}

function LastRun({ run }: { run: HookRunJson | undefined }) {
  return run === undefined ? <span class="faint small">has not run</span> : <Verdict run={run} />;
}

function Verdict({ run: { ok, exit_code, timed_out } }: { run: HookRunJson }) {
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
