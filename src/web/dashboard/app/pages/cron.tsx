/** What happens by the clock. */

import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { run } from "../data/actions.ts";
import { ask, messageOf } from "../data/api.ts";
import { linkTo } from "../data/router.ts";
import { clock, events, mayOperate } from "../data/store.ts";
import type { CronJson } from "../data/types.ts";
import { Button } from "../parts/button.tsx";
import { Empty, Loading } from "../parts/empty.tsx";
import { dateTime, relative } from "../text/format.ts";

const REFRESH_MS = 5000;

/** The screen. */
export function Cron() {
  const jobs = useSignal<readonly CronJson[] | undefined>(undefined);
  const error = useSignal("");
  const load = async () => {
    try {
      jobs.value = await ask<CronJson[]>("/cron");
      error.value = "";
    } catch (reason) {
      error.value = messageOf(reason);
    }
  };
  useEffect(() => {
    const timer = setInterval(load, REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
  useEffect(() => void load(), [events.value]);
  return (
    <>
      <h1>Cron</h1>
      {error.value && <p class="bad" role="alert">{error}</p>}
      <Jobs jobs={jobs} load={load} />
    </>
  );
}

function Jobs({ jobs, load }: {
  readonly jobs: Signal<readonly CronJson[] | undefined>;
  readonly load: () => Promise<void>;
}) {
  if (jobs.value === undefined) return <Loading />;
  if (jobs.value.length === 0) {
    return (
      <Empty title="Nothing is scheduled">
        <code>procsup start backup.ts --cron '@daily'</code> runs something every day.
      </Empty>
    );
  }
  return (
    <div class="table-frame">
      <table class="cron">
        <caption class="unseen">Schedules</caption>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Schedule</th>
            <th scope="col">Next</th>
            <th scope="col">Last</th>
            <th scope="col">Enabled</th>
            <td />
          </tr>
        </thead>
        <tbody>{jobs.value.map((job) => <JobRow key={job.name} job={job} load={load} />)}</tbody>
      </table>
    </div>
  );
}

function JobRow({ job, load }: { job: CronJson; load: () => Promise<void> }) {
  const { name, type, schedule, timezone, enabled, running, next_run, last_run } = job;
  const path = `/cron/${encodeURIComponent(name)}`;
  const post = (words: { doing: string; done: string }, verb: string) =>
    void run(words, `${path}/${verb}`, { method: "POST" }).then(load);
  const toggle = () =>
    enabled
      ? post({ doing: `Disabling ${name}`, done: `${name} is disabled` }, "stop")
      : post({ doing: `Enabling ${name}`, done: `${name} is enabled` }, "start");
  return (
    <tr>
      <th scope="row" class="name">
        <a href={linkTo(["processes", name])}>{name}</a>
        <span class="labels">
          <span class="label">{type}</span>
        </span>
      </th>
      <td>
        <code>{schedule}</code> <span class="faint small">{timezone}</span>
      </td>
      <td title={next_run ? dateTime(Date.parse(next_run)) : undefined}>
        {running ? <strong>running now</strong> : when(next_run)}
      </td>
      <td title={last_run ? dateTime(Date.parse(last_run)) : undefined}>
        {when(last_run)} <LastStatus job={job} />
      </td>
      <td>
        <label class="tick-area">
          <input
            type="checkbox"
            role="switch"
            aria-label={`${name} is enabled`}
            checked={enabled}
            disabled={!mayOperate.value}
            onChange={toggle}
          />
        </label>
      </td>
      <td class="actions">
        {mayOperate.value && (
          <Button
            icon="start"
            onClick={() => post({ doing: `Running ${name}`, done: `${name} runs` }, "run")}
          >
            Run now
          </Button>
        )}
      </td>
    </tr>
  );
}

function LastStatus({ job: { last_status, last_exit_code } }: { job: CronJson }) {
  if (last_status === null) return null;
  const code = last_exit_code === null || last_exit_code === 0 ? "" : ` ${last_exit_code}`;
  return (
    <span class={last_status === "ok" ? "health is-healthy" : "health is-unhealthy"}>
      {last_status === "ok" ? "✓" : "✗"} {last_status}
      {code}
    </span>
  );
}

function when(iso: string | null): string {
  return iso === null ? "–" : relative(Date.parse(iso), clock.value);
}
