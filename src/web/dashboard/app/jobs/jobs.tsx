/** The screen of the jobs, and of restarts by schedule. */

import { useSignal } from "@preact/signals";
import { happened } from "../data/store.ts";
import { usePolled } from "../data/polled.ts";
import { linkTo, logLink } from "../data/router.ts";
import { between } from "../data/time_range.ts";
import { mayOperate } from "../data/store.ts";
import type { CronJson, CronRunJson } from "../../../../protocol/wire.ts";
import { Age, Answer, Button, Empty, Table } from "../controls/controls.tsx";
import { Icon } from "../controls/icons.tsx";
import { Strip } from "../process/process_figures.tsx";
import { run } from "../process/actions.ts";
import { counted, dateTime, shortSpan } from "../data/format.ts";

const REFRESH_MS = 5000;

export function Jobs() {
  const jobs = usePolled("cron_list", undefined, REFRESH_MS, happened.value);
  return (
    <>
      <h1>
        Jobs <span class="faint count">{jobs.data.value?.length || ""}</span>
      </h1>
      <Answer of={jobs}>{(list) => <JobTable jobs={list} reload={jobs.reload} />}</Answer>
    </>
  );
}

function JobTable({ jobs, reload }: {
  readonly jobs: readonly CronJson[];
  readonly reload: () => Promise<void>;
}) {
  const opened = useSignal("");
  if (jobs.length === 0) {
    return (
      <Empty title="Nothing is scheduled">
        <code>procsup start backup.ts --cron '@daily'</code> runs something every day.
      </Empty>
    );
  }
  return (
    <Table
      caption="Schedules"
      kind="stacked cron"
      headings={[["Name", "name"], "Schedule", "Next", "Last", "Last runs", "Enabled", ""]}
    >
      {jobs.map((job) => {
        const isOpen = opened.value === job.name;
        const onOpen = () => opened.value = isOpen ? "" : job.name;
        return (
          <tbody key={job.name}>
            <CronRow {...{ job, reload, isOpen, onOpen }} />
            {isOpen && (
              <tr class="inner">
                <td colSpan={7} id={`runs-${job.name}`}>
                  <CronHistory job={job} />
                </td>
              </tr>
            )}
          </tbody>
        );
      })}
    </Table>
  );
}

interface CronRowProps {
  readonly job: CronJson;
  readonly reload: () => Promise<void>;
  readonly isOpen: boolean;
  readonly onOpen: () => void;
}

function CronRow({ job, reload, isOpen, onOpen }: CronRowProps) {
  const { name, type, schedule, timezone, enabled, running, next_run, last_run } = job;
  const post = (
    words: { doing: string; done: string },
    verb: "cron_start" | "cron_stop" | "cron_run",
  ) => void run(words, verb, { name }).then(reload);
  const toggle = () =>
    enabled
      ? post({ doing: `Disabling ${name}`, done: `${name} is disabled` }, "cron_stop")
      : post({ doing: `Enabling ${name}`, done: `${name} is enabled` }, "cron_start");
  return (
    <tr>
      <th scope="row" class="name">
        <div class="name-cell">
          <a class="clip" href={linkTo(["processes", name])} title={name}>{name}</a>
          <span class="labels">
            <span class="label">{type}</span>
          </span>
        </div>
      </th>
      <td data-label="Schedule">
        <code>{schedule}</code> <span class="faint small">{timezone}</span>
      </td>
      <td class="moment" data-label="Next">
        {running ? <strong class="is-running">running now</strong> : <Age at={next_run} />}
      </td>
      <td class="moment" data-label="Last">
        <Age at={last_run} /> <LastStatus job={job} />
        {job.overdue_since !== null && <strong class="is-crashed">overdue</strong>}
      </td>
      <td data-label="Last runs">
        <button
          type="button"
          class="strip-button"
          aria-expanded={isOpen}
          aria-controls={`runs-${name}`}
          onClick={onOpen}
        >
          <span class="unseen">Last runs of {name}:</span>
          <RunStrip runs={job.history} />
          <Icon name={isOpen ? "up" : "down"} size={12} />
        </button>
      </td>
      <td data-label="Enabled">
        <label class="tick-area">
          <input
            type="checkbox"
            role="switch"
            aria-label={`${name} is enabled`}
            checked={enabled}
            disabled={!mayOperate.value}
            title={mayOperate.value ? undefined : "This needs the role operate"}
            onChange={toggle}
          />
        </label>
      </td>
      <td class="actions">
        {mayOperate.value && (
          <Button
            icon="start"
            onClick={() => post({ doing: `Running ${name}`, done: `${name} runs` }, "cron_run")}
          >
            Run now
          </Button>
        )}
      </td>
    </tr>
  );
}

function RunStrip({ runs }: { runs: readonly CronRunJson[] }) {
  if (runs.length === 0) return <span class="faint small">none yet</span>;
  const took = runs.map(msOf);
  const longest = Math.max(1, ...took);
  const good = runs.filter(({ status }) => status === "ok").length;
  return (
    <Strip
      label={`${good} of the last ${counted(runs.length, "run")} succeeded`}
      bars={runs.map((run, index) => ({
        ok: run.status === "ok",
        skipped: run.status === "skipped",
        size: took[index]! / longest,
        title: `${dateTime(Date.parse(run.started_at))}: ${run.status}, ${shortSpan(took[index]!)}`,
      }))}
    />
  );
}

function msOf({ started_at, finished_at }: CronRunJson): number {
  return Date.parse(finished_at) - Date.parse(started_at);
}

function LastStatus({ job: { last_status, last_exit_code } }: { job: CronJson }) {
  if (last_status === null) return null;
  const { mark, look } = lookOf(last_status);
  return <span class={`health ${look}`}>{mark} {last_status} {last_exit_code || ""}</span>;
}

/** A skipped run has neither succeeded nor failed. */
function lookOf(status: CronRunJson["status"]): { readonly mark: string; readonly look: string } {
  if (status === "ok") return { mark: "✓", look: "is-running" };
  return status === "skipped" ? { mark: "–", look: "faint" } : { mark: "✗", look: "is-crashed" };
}

const EVERY_MS = 30_000;

/** Last and next runs of a job, below its row. */
function CronHistory({ job: { name, history, next_run } }: { job: CronJson }) {
  const { data } = usePolled("cron_list", { name }, EVERY_MS, next_run);
  const moments = data.value?.find((one) => one.name === name)?.next_runs ?? [];
  return (
    <div class="cron-history">
      <section>
        <h2>
          Last runs{" "}
          <a class="small" href={linkTo(["logs"], new URLSearchParams({ t: name }))}>Log</a>
        </h2>
        {history.length === 0 ? <p class="faint">It has not run yet.</p> : (
          <Table
            caption={`Last runs of ${name}, the newest first`}
            kind="history"
            isInner
            headings={["Began", "Result", ["Took", "number"], ""]}
          >
            <tbody>
              {history.toReversed().map((run) => <Run key={run.started_at} {...{ name, run }} />)}
            </tbody>
          </Table>
        )}
      </section>
      <section>
        <h2>Next</h2>
        <ul>
          {moments.map((moment) => (
            <li key={moment} class="number">
              {dateTime(Date.parse(moment))} <Age at={moment} kind="faint small" />
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}

function Run({ name, run }: { readonly name: string; readonly run: CronRunJson }) {
  const { started_at, finished_at, status, exit_code, times } = run;
  const began = Date.parse(started_at);
  const { mark, look } = lookOf(status);
  return (
    <tr>
      <td class="number">
        {dateTime(began)} <Age at={started_at} kind="faint small" />
      </td>
      <td class={look}>
        {mark} {status}
        {exit_code ? ` with exit code ${exit_code}` : ""}
        {times !== undefined && times > 1 ? `, ${times} times in a row` : ""}
      </td>
      <td class="number">
        {status === "skipped" ? "" : shortSpan(Date.parse(finished_at) - began)}
      </td>
      <td>
        {status !== "skipped" && <a href={runLink(name, run)}>Log of this run</a>}
      </td>
    </tr>
  );
}

/** Lines are dated when they are read, a moment after they are written. */
const SEEN_MS = 1000;

function runLink(name: string, { started_at, finished_at }: CronRunJson): string {
  return logLink(name, between(Date.parse(started_at), Date.parse(finished_at) + SEEN_MS));
}
