/** Lists of events, from the daemon's journal. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { type EventJson, MOST_EVENTS, useEvents } from "../data/past.ts";
import { usePolled } from "../data/polled.ts";
import { logLink, place, range, setParams } from "../data/router.ts";
import { clock, happened } from "../data/store.ts";
import { between, lookingAt, rangeText, sinceUntil } from "../data/time_range.ts";
import { type Condition, CONDITIONS_BY_URGENCY } from "../../../../model/process_info.ts";
import { Answer, Button, Empty, Search, Select } from "../controls/controls.tsx";
import { RangePicker } from "../controls/range_picker.tsx";
import { AppName, StateShape } from "../process/process_figures.tsx";
import { dateTime, momentText } from "../data/format.ts";
import { KINDS } from "./lanes.ts";

const PAGE = 100;
const DAY_MS = 86_400_000;
const TYPES = [
  ...["crashed", "errored", "unhealthy", "healthy", "running", "restarted", "stopped"],
  ...["alert", "alert_resolved", "overdue"],
  ...["released", "release_failed", "added", "deleted", "adopted", "note"],
];

/** Filters and the matching events; of a single process with the range, and without names. */
export function EventLog({ target }: { readonly target?: string }) {
  const { params } = place.value;
  const [search, type] = [params.get("q") ?? "", params.get("type") ?? ""];
  const filter = { search: search || undefined, type: type as EventJson["type"] || undefined };
  const limit = useSignal(PAGE);
  useEffect(() => {
    limit.value = PAGE;
  }, [target, search, type, rangeText(range.value)]);
  const found = useEvents({ target, ...filter, limit: limit.value }, range.value);
  return (
    <>
      <div class="row wrap">
        {target !== undefined && <RangePicker />}
        <Select
          label="Type of event"
          value={type}
          options={[["", "All types"], ...TYPES]}
          onChoose={(type) => setParams({ type })}
        />
        <Search
          label="Search events"
          placeholder="name, type or reason"
          value={search}
          onInput={(q) => setParams({ q })}
        />
      </div>
      <Answer of={found}>
        {({ events, truncated }) => (
          <>
            {events.length === 0
              ? <Empty title="Nothing happened in this time" />
              : (
                <section class="panel" aria-label="Events">
                  <EventList events={events} named={target === undefined} />
                </section>
              )}
            {truncated && limit.value < MOST_EVENTS && (
              <div class="row">
                <Button onClick={() => limit.value += PAGE}>Older events</Button>
              </div>
            )}
          </>
        )}
      </Answer>
    </>
  );
}

/** Automatic restarts since midnight, by cause: `Restarts today: 37 (crash 30, out of memory 7)`. */
export function RestartsToday({ target }: { readonly target?: string }) {
  const midnight = new Date(clock.value).setHours(0, 0, 0, 0);
  const { data } = usePolled(
    "events",
    {
      ...sinceUntil(between(midnight, midnight + DAY_MS)),
      target,
      type: "restarted",
      limit: MOST_EVENTS,
    },
    Infinity,
    happened.value,
  );
  if (data.value === undefined) return null;
  const { events } = data.value;
  const causes = [...Map.groupBy(events, ({ cause = "crash" }) => cause)]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([cause, some]) => `${KINDS[cause][1]} ${some.length}`);
  return (
    <p class="faint">
      Restarts today: <strong class="number">{events.length}</strong>
      {causes.length > 0 && ` (${causes.join(", ")})`}
    </p>
  );
}

/** The list, the newest first. `named` shows the names of the processes. */
function EventList({ events, named }: {
  readonly events: readonly EventJson[];
  readonly named: boolean;
}) {
  return (
    <ol class="events">
      {events.toReversed().map(({ type, at, name, reason, by }, index) => (
        <li key={`${at} ${name} ${type} ${index}`}>
          <a
            href={logLink(name, lookingAt(Date.parse(at), range.value))}
            title="The log of that second"
          >
            <Moment at={Date.parse(at)} />
          </a>
          {CONDITIONS_BY_URGENCY.includes(type as Condition)
            ? <StateShape state={type as Condition} />
            : <span class="faint" aria-hidden="true">•</span>}
          <span class="event-text">
            {named && <AppName name={name} />} <strong>{type}</strong>
            {reason && <span class="faint">{because(type, reason)}</span>}
            {by && <span class="faint">{` by ${by}`}</span>}
          </span>
        </li>
      ))}
    </ol>
  );
}

function Moment({ at }: { readonly at: number }) {
  return (
    <time dateTime={new Date(at).toISOString()} title={dateTime(at)}>
      {momentText(at, clock.value)}
    </time>
  );
}

/** The reason of a start may describe how the previous run ended. */
function because(type: string, reason: string): string {
  if (type === "restarted") return `: ${reason}`;
  const isAgain = type === "starting" && /^(exited|ended|killed)/.test(reason);
  return isAgain ? ` again after it ${reason}` : ` ${reason}`;
}
