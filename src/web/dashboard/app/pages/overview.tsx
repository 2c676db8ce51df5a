/** How things are, at a glance: what needs somebody first. */

import { linkTo } from "../data/router.ts";
import { needsAttention } from "../data/select.ts";
import { events } from "../data/news.ts";
import { clock, processes, processList, stateCounts } from "../data/store.ts";
import { type ProcessJson, STATES } from "../data/types.ts";
import { Loading, NothingYet } from "../parts/empty.tsx";
import { EventList } from "../parts/event_list.tsx";
import { HostTiles } from "../parts/host_tiles.tsx";
import { Icon } from "../parts/icon.tsx";
import { HealthBadge, StateBadge, StateShape } from "../parts/state_badge.tsx";
import { Uptime } from "../parts/process_figures.tsx";
import { RowActions } from "../parts/row_actions.tsx";
import { WebhookTrouble } from "../parts/webhook_trouble.tsx";
import { bytes, counted, percent, relative } from "../text/format.ts";

const MANY = 8;
const SHOWN_EVENTS = 12;

/** The screen. */
export function Overview() {
  if (processes.value === null) return <Loading />;
  if (processList.value.length === 0) {
    return (
      <>
        <h1 class="unseen">Overview</h1>
        <NothingYet />
        <HostTiles />
      </>
    );
  }
  return (
    <>
      <h1>Overview</h1>
      <Counters />
      <HostTiles />
      <div class="two">
        <Attention />
        <section class="panel" aria-labelledby="recent">
          <h2 id="recent" class="row between">
            Recent events <a class="small" href={linkTo(["events"])}>All events</a>
          </h2>
          <EventList events={events.value.slice(0, SHOWN_EVENTS)} />
        </section>
      </div>
    </>
  );
}

function Counters() {
  const total = processList.value.length;
  return (
    <ul class="counters">
      <li>
        <a class="counter" href={linkTo(["processes"])}>
          <strong>{total}</strong>
          <span>{total === 1 ? "process" : "processes"}</span>
        </a>
      </li>
      {STATES.map((state) => {
        const count = stateCounts.value.get(state) ?? 0;
        const isRare = state === "starting" || state === "stopping" || state === "waiting";
        if (count === 0 && isRare) return null;
        return (
          <li key={state}>
            <a
              class={`counter is-${state}${count === 0 ? " none" : ""}`}
              href={linkTo(["processes"], `state=${state}`)}
            >
              <strong>{count}</strong>
              <span>
                <StateShape state={state} />
                {state}
              </span>
            </a>
          </li>
        );
      })}
    </ul>
  );
}

function Attention() {
  const needy = processList.value.filter(needsAttention);
  const restarted = processList.value.filter(({ restarts }) => restarts > 0)
    .sort((a, b) => b.restarts - a.restarts);
  const busiest = processList.value.filter(({ pid }) => pid !== 0)
    .sort((a, b) => b.cpu_percent - a.cpu_percent || b.memory_bytes - a.memory_bytes);
  return (
    <section class="panel" aria-labelledby="attention">
      <h2 id="attention">Needs attention</h2>
      {needy.length === 0
        ? (
          <p class="all-good">
            <Icon name="done" /> All {counted(processList.value.length, "process", "processes")}
            {" "}
            {processList.value.length === 1 ? "is" : "are"} as wanted.
          </p>
        )
        : <NeedyList needy={needy} />}
      <WebhookTrouble />
      {restarted.length > 0 && (
        <>
          <h3>Most restarts</h3>
          <Ranking list={restarted} text={({ restarts }) => counted(restarts, "restart")} />
        </>
      )}
      {busiest.length > 0 && (
        <>
          <h3>Busiest</h3>
          <Ranking
            list={busiest}
            text={({ cpu_percent, memory_bytes }) =>
              `${percent(cpu_percent)} · ${bytes(memory_bytes)}`}
          />
        </>
      )}
    </section>
  );
}

function NeedyList({ needy }: { needy: readonly ProcessJson[] }) {
  return (
    <ul class="needy">
      {needy.slice(0, MANY).map((process) => (
        <li key={process.id}>
          <div class="row">
            <a class="clip" href={linkTo(["processes", process.name])}>{process.name}</a>
            <StateBadge state={process.state} />
            <HealthBadge process={process} />
            {process.state !== "waiting" && (
              <span class="faint small">
                <Uptime process={process} />
              </span>
            )}
            <span class="actions">
              <RowActions process={process} />
            </span>
          </div>
          <p class="small faint">
            {process.health === "unhealthy" && process.state === "running"
              ? (
                <a href={linkTo(["processes", process.name], "tab=health")}>
                  its health checks fail
                </a>
              )
              : process.last_reason}
            {process.next_restart_at !== null &&
              ` · again ${relative(Date.parse(process.next_restart_at), clock.value)}`}
          </p>
        </li>
      ))}
      {needy.length > MANY && <li class="faint">and {needy.length - MANY} more</li>}
    </ul>
  );
}

function Ranking({ list, text }: {
  readonly list: readonly ProcessJson[];
  readonly text: (process: ProcessJson) => string;
}) {
  return (
    <ol class="ranking">
      {list.slice(0, 5).map((process) => (
        <li key={process.id} class="row between">
          <a class="clip" href={linkTo(["processes", process.name])}>{process.name}</a>
          <span class="faint number small">{text(process)}</span>
        </li>
      ))}
    </ol>
  );
}
