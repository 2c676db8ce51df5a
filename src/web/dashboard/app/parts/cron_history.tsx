/** The last runs of a schedule, and the moments that come next. */

import { usePolled } from "../data/polled.ts";
import { linkTo } from "../data/router.ts";
import { clock } from "../data/store.ts";
import type { CronJson, CronRunJson } from "../data/types.ts";
import { dateTime, relative, shortSpan } from "../text/format.ts";

const EVERY_MS = 30_000;

const MARKS: Readonly<Record<CronRunJson["status"], string>> = {
  ok: "✓",
  failed: "✗",
  timeout: "✗",
  killed: "✗",
  skipped: "–",
};

/** Below its row. */
export function CronHistory({ job: { name, history, next_run } }: { job: CronJson }) {
  const path = `/cron?${new URLSearchParams({ name })}`;
  const { data } = usePolled<readonly CronJson[]>(path, EVERY_MS, next_run);
  const moments = data.value?.find((one) => one.name === name)?.next_runs ?? [];
  return (
    <div class="cron-history">
      <section>
        <h2>
          Last runs{" "}
          <a class="small" href={linkTo(["logs"], new URLSearchParams({ t: name }))}>Log</a>
        </h2>
        {history.length === 0 ? <p class="faint">It has not run yet.</p> : (
          <table class="history">
            <caption class="unseen">Last runs of {name}, the newest first</caption>
            <thead>
              <tr>
                <th scope="col">Began</th>
                <th scope="col">Result</th>
                <th scope="col" class="number">Took</th>
              </tr>
            </thead>
            <tbody>
              {history.toReversed().map((run) => <Run key={run.started_at} run={run} />)}
            </tbody>
          </table>
        )}
      </section>
      <section>
        <h2>Next</h2>
        <ul>
          {moments.map((moment) => (
            <li key={moment} class="number">
              {dateTime(Date.parse(moment))}{" "}
              <span class="faint small">{relative(Date.parse(moment), clock.value)}</span>
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}

function Run({ run: { started_at, finished_at, status, exit_code, times } }: { run: CronRunJson }) {
  const began = Date.parse(started_at);
  const look = status === "ok" ? "is-running" : status === "skipped" ? "faint" : "is-crashed";
  return (
    <tr>
      <td class="number" title={dateTime(began)}>
        {dateTime(began)} <span class="faint small">{relative(began, clock.value)}</span>
      </td>
      <td class={look}>
        {MARKS[status]} {status}
        {exit_code ? ` with exit code ${exit_code}` : ""}
        {times !== undefined && times > 1 ? `, ${times} times in a row` : ""}
      </td>
      <td class="number">
        {status === "skipped" ? "" : shortSpan(Date.parse(finished_at) - began)}
      </td>
    </tr>
  );
}
