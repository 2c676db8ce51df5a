/** What needs attention now. */

import { conditionOf, CONDITIONS_BY_URGENCY } from "../../../../model/process_info.ts";
import type { AlertJson, ProcessJson } from "../../../../protocol/wire.ts";
import { Icon } from "../controls/icons.tsx";
import { counted, relative } from "../data/format.ts";
import { linkTo } from "../data/router.ts";
import { usePolled } from "../data/polled.ts";
import { clock, happened, processList } from "../data/store.ts";
import { AppName, StateBadge, Uptime } from "../process/process_figures.tsx";
import { RowActions } from "../process/process_menu.tsx";
import { needsAttention } from "../process/select.ts";
import { RestartsToday } from "./events.tsx";
import { WebhookTrouble } from "../settings/webhooks.tsx";

const MANY = 8;

/** Interval of requests for the alerts: their values change without an event. */
const EVERY_MS = 10_000;

export function Attention() {
  const urgency = (process: ProcessJson) => CONDITIONS_BY_URGENCY.indexOf(conditionOf(process));
  const needy = processList.value.filter(needsAttention).sort((a, b) => urgency(a) - urgency(b));
  const total = processList.value.length;
  const { data } = usePolled("alerts", undefined, EVERY_MS, happened.value);
  const alerts = (data.value ?? []).filter(({ state }) => state === "firing");
  return (
    <section class="panel" aria-labelledby="attention">
      <h2 id="attention">Needs attention</h2>
      {needy.length === 0
        ? alerts.length === 0 && (
          <p class="row is-running">
            <Icon name="done" /> All {counted(total, "process", "processes")}{" "}
            {total === 1 ? "is" : "are"} as wanted.
          </p>
        )
        : <NeedyList needy={needy} />}
      {alerts.length > 0 && <Alerts alerts={alerts} />}
      <RestartsToday />
      <WebhookTrouble />
    </section>
  );
}

function Alerts({ alerts }: { readonly alerts: readonly AlertJson[] }) {
  return (
    <>
      <h3>Alerts</h3>
      <ul class="needy">
        {alerts.map(({ name, when, since, value }) => (
          <li key={`${name} ${when}`} class="row between">
            <AppName name={name} />
            <span class="small bad">
              {`⚑ ${when}`}
              {value !== "" && `, it is ${value}`}
              {since !== null && ` · ${relative(Date.parse(since), clock.value)}`}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

function NeedyList({ needy }: { needy: readonly ProcessJson[] }) {
  return (
    <ul class="needy">
      {needy.slice(0, MANY).map((process) => (
        <li key={process.id} class="row">
          <AppName name={process.name} />
          <StateBadge state={conditionOf(process)} />
          <p class="small faint clip" title={process.last_reason}>
            {process.state !== "waiting" && (
              <>
                <Uptime process={process} /> ·{" "}
              </>
            )}
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
          <span class="actions">
            <RowActions process={process} />
          </span>
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
