/** What happened to processes, as the daemon has it on record. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ask, messageOf } from "../data/api.ts";
import { eventsPath, useEvents } from "../data/news.ts";
import { range } from "../data/range.ts";
import { lookingAt, rangeText } from "../data/time_range.ts";
import { linkTo, place, setParams } from "../data/router.ts";
import { clock, processes } from "../data/store.ts";
import { type EventJson, type EventsJson, type State, STATES } from "../data/types.ts";
import { Button, Empty, Icon, Loading } from "../controls/controls.tsx";
import { RangePicker } from "../controls/range_picker.tsx";
import { StateShape } from "../process/process_figures.tsx";
import { dateTime, relative } from "../data/format.ts";

const PAGE = 100;
const TYPES = [
  ...["crashed", "errored", "unhealthy", "healthy", "running", "stopped"],
  ...["added", "deleted", "adopted", "note"],
];

/** The screen. */
export function Events() {
  if (processes.value === null) return <Loading />;
  return (
    <>
      <h1>Events</h1>
      <EventLog />
    </>
  );
}

/** Filters, and what passes them, by page; without names where all are of one process. */
export function EventLog({ target }: { readonly target?: string }) {
  const { params } = place.value;
  const [search, type] = [params.get("q") ?? "", params.get("type") ?? ""];
  const query = { target, search, type, range: range.value, limit: PAGE };
  const { data, error } = useEvents(query);
  const older = useSignal<EventsJson | undefined>(undefined);
  useEffect(() => {
    older.value = undefined;
  }, [eventsPath(query)]);
  const page = data.value;
  const next = older.value === undefined ? page?.next : older.value.next;
  const more = async () => {
    try {
      const { events, ...rest } = await ask<EventsJson>(eventsPath(query, next));
      older.value = { ...rest, events: [...events, ...older.value?.events ?? []] };
    } catch (reason) {
      problem.value = messageOf(reason);
    }
  };
  const problem = useSignal("");
  const shown = [...older.value?.events ?? [], ...page?.events ?? []];
  return (
    <>
      <div class="row wrap">
        <RangePicker />
        <select
          aria-label="Type of event"
          value={type}
          onChange={({ currentTarget }) => setParams({ type: currentTarget.value })}
        >
          <option value="">All types</option>
          {TYPES.map((one) => <option key={one}>{one}</option>)}
        </select>
        <div class="search">
          <Icon name="search" />
          <input
            type="search"
            aria-label="Search events"
            placeholder="name, type or reason"
            value={search}
            onInput={({ currentTarget }) => setParams({ q: currentTarget.value })}
          />
        </div>
      </div>
      {(error.value || problem.value) && (
        <p class="bad" role="alert">{error.value || problem.value}</p>
      )}
      {page === undefined
        ? <Loading />
        : shown.length === 0
        ? <Empty title="Nothing happened in this time" />
        : (
          <section class="panel" aria-label="Events">
            <EventList events={shown} named={target === undefined} isExact />
          </section>
        )}
      {next && (
        <div class="row">
          <Button onClick={() => void more()}>Older events</Button>
        </div>
      )}
    </>
  );
}

/** The list, the newest first; without names where all are of one process. */
export function EventList({ events, named = true, isExact = false }: {
  readonly events: readonly EventJson[];
  readonly named?: boolean;
  /** Whether times are exact, and not how long ago. */
  readonly isExact?: boolean;
}) {
  if (events.length === 0) return <p class="faint">Nothing has happened yet.</p>;
  return (
    <ol class={`events${isExact ? " exact" : ""}`}>
      {events.toReversed().map(({ type, at, name, reason }, index) => (
        <li key={`${at} ${name} ${type} ${index}`}>
          <a href={logLink(name, Date.parse(at))} title="The log of that second">
            <time dateTime={at}>
              {isExact ? dateTime(Date.parse(at)) : relative(Date.parse(at), clock.value)}
            </time>
          </a>
          {STATES.includes(type as State)
            ? <StateShape state={type as State} />
            : <span class="shape other" aria-hidden="true">•</span>}
          <span class="event-text">
            {named && <a href={linkTo(["processes", name])}>{name}</a>} <strong>{type}</strong>
            {reason && <span class="faint">{` ${because(type, reason)}`}</span>}
          </span>
        </li>
      ))}
    </ol>
  );
}

function logLink(name: string, at: number): string {
  return linkTo(["processes", name], `tab=logs&${rangeText(lookingAt(at, range.value))}`);
}

/** The reason of a start may be how the run before it ended. */
function because(type: string, reason: string): string {
  const isUp = type === "starting" || type === "running";
  return isUp && /^(exited|ended|killed)/.test(reason) ? `again after it ${reason}` : reason;
}
