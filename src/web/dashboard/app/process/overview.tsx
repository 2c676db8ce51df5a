/** The state at a glance, problems first. */

import { HOST, recent, round } from "./history.ts";
import { useEvents } from "../data/past.ts";
import { usePolled } from "../data/polled.ts";
import { linkTo } from "../data/router.ts";
import { needsAttention } from "./select.ts";
import { clock, metrics, processList, stateCounts, type SystemMetrics } from "../data/store.ts";
import { STATES_BY_URGENCY } from "../../../../model/process_info.ts";
import type { ProcessJson, SystemInfoJson } from "../../../../protocol/wire.ts";
import { Icon, NothingYet } from "../controls/controls.tsx";
import { EventList } from "../events/events.tsx";
import { WebhookTrouble } from "../webhooks/webhooks.tsx";
import { bytes, counted, percent, relative, span } from "../data/format.ts";
import { HealthBadge, StateBadge, StateShape, Tile, Uptime } from "./process_figures.tsx";
import { RowActions } from "./process_menu.tsx";

const MANY = 8;
const SHOWN_EVENTS = 12;

export function Overview() {
  const isEmpty = processList.value.length === 0;
  return (
    <>
      <h1 class={isEmpty ? "unseen" : ""}>Overview</h1>
      {isEmpty ? <NothingYet /> : <Counters />}
      <HostTiles />
      {!isEmpty && (
        <div class="two">
          <Attention />
          <RecentEvents />
        </div>
      )}
    </>
  );
}

function RecentEvents() {
  const { data } = useEvents({ limit: SHOWN_EVENTS });
  return (
    <section class="panel" aria-labelledby="recent">
      <h2 id="recent" class="row between">
        Recent events <a class="small" href={linkTo(["events"])}>All events</a>
      </h2>
      {data.value && <EventList events={data.value.events} />}
    </section>
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
      {STATES_BY_URGENCY.map((state) => {
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
      {needy.length > MANY && (
        <li>
          <a href={linkTo(["processes"], "sort=state")}>and {needy.length - MANY} more</a>
        </li>
      )}
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

const HOUR_MS = 3_600_000;

function HostTiles() {
  round.value;
  const host = metrics.value;
  if (host === undefined) return null;
  const { total_memory = 0, used_memory = 0, cpu_count = 1, cpu_percent = 0 } = host;
  const samples = recent(HOST, 60_000);
  const used = total_memory === 0 ? "" : `of ${bytes(total_memory)}`;
  return (
    <section class="tiles" aria-label="Host">
      <Tile
        title="CPU"
        text={percent(cpu_percent)}
        more={`of ${counted(cpu_count, "core")}`}
        samples={samples}
        of="cpu"
        most={100}
      />
      <Tile
        title="Memory"
        text={bytes(used_memory)}
        more={used}
        samples={samples}
        of="memory"
        most={total_memory}
      />
      <Tile
        title="Load"
        text={(host.cpu_load_1 ?? 0).toFixed(2)}
        more={`· ${(host.cpu_load_5 ?? 0).toFixed(2)} · ${(host.cpu_load_15 ?? 0).toFixed(2)}`}
        samples={samples}
        of="load"
        most={cpu_count}
      />
      <DiskTile />
      <RestartTile {...host} />
    </section>
  );
}

function DiskTile() {
  const { data } = usePolled<SystemInfoJson>("/system/info", 30_000);
  if (data.value === undefined) return <Tile title="Disk, free" text="–" />;
  const { disk_total = 0, disk_available = 0 } = data.value;
  if (disk_total === 0) return null;
  const used = (disk_total - disk_available) / disk_total * 100;
  return (
    <Tile
      title="Disk, free"
      text={bytes(disk_available)}
      more={`of ${bytes(disk_total)}`}
      level={used}
    />
  );
}

/** The daemon counts only restarts since its own start. */
function RestartTile({ daemon = {} }: SystemMetrics) {
  const { restarts_last_hour = 0, uptime_seconds = 0 } = daemon;
  const ms = uptime_seconds * 1000;
  const since = ms < HOUR_MS ? span(ms).split(" ")[0] : "hour";
  return <Tile title={`Restarts, last ${since}`} text={String(restarts_last_hour)} />;
}
