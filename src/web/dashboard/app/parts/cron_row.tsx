/** One schedule. */

import { run } from "../data/actions.ts";
import { linkTo } from "../data/router.ts";
import { clock, mayOperate } from "../data/store.ts";
import type { CronJson, CronRunJson } from "../data/types.ts";
import { counted, dateTime, relative, shortSpan } from "../text/format.ts";
import { Button } from "./button.tsx";
import { Icon } from "./icon.tsx";
import { Strip } from "./strip.tsx";

/** What it shows. */
export interface CronRowProps {
  readonly job: CronJson;
  readonly reload: () => Promise<void>;
  readonly isOpen: boolean;
  readonly onOpen: () => void;
}

/** The row. */
export function CronRow({ job, reload, isOpen, onOpen }: CronRowProps) {
  const { name, type, schedule, timezone, enabled, running, next_run, last_run } = job;
  const path = `/cron/${encodeURIComponent(name)}`;
  const post = (words: { doing: string; done: string }, verb: string) =>
    void run(words, `${path}/${verb}`, { method: "POST" }).then(reload);
  const toggle = () =>
    enabled
      ? post({ doing: `Disabling ${name}`, done: `${name} is disabled` }, "stop")
      : post({ doing: `Enabling ${name}`, done: `${name} is enabled` }, "start");
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
      <td
        class="moment"
        data-label="Next"
        title={next_run ? dateTime(Date.parse(next_run)) : undefined}
      >
        {running ? <strong class="is-running">running now</strong> : when(next_run)}
      </td>
      <td
        class="moment"
        data-label="Last"
        title={last_run ? dateTime(Date.parse(last_run)) : undefined}
      >
        {when(last_run)} <LastStatus job={job} />
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
            title={mayOperate.value ? undefined : "It takes the role operate"}
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

function RunStrip({ runs }: { runs: readonly CronRunJson[] }) {
  if (runs.length === 0) return <span class="faint small">none yet</span>;
  const took = runs.map(msOf);
  const longest = Math.max(1, ...took);
  const good = runs.filter(({ status }) => status === "ok").length;
  return (
    <Strip
      label={`${good} of the last ${counted(runs.length, "run")} went well`}
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
