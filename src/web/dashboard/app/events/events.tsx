/** Everything that happened while this page was open, and what is known of before. */

import { events } from "../data/news.ts";
import { linkTo, place, setParams } from "../data/router.ts";
import { clock, processes } from "../data/store.ts";
import { type EventRow, type State, STATES } from "../data/types.ts";
import { Empty, Icon, Loading } from "../controls/controls.tsx";
import { StateShape } from "../process/process_figures.tsx";
import { dateTime, relative } from "../data/format.ts";

/** The screen. */
export function Events() {
  const search = place.value.params.get("q") ?? "";
  if (processes.value === null) return <Loading />;
  const words = search.toLowerCase().split(/\s+/);
  const shown = events.value.filter(({ name, type, reason }) => {
    const text = `${name} ${type} ${reason}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  return (
    <>
      <div class="page-head">
        <h1>
          Events <span class="faint count">{shown.length}</span>
        </h1>
        <div class="search">
          <Icon name="search" />
          <input
            type="search"
            aria-label="Search events"
            placeholder="name, state or reason"
            value={search}
            onInput={({ currentTarget }) => setParams({ q: currentTarget.value })}
          />
        </div>
      </div>
      {shown.length === 0
        ? <Empty title="Nothing has happened" />
        : (
          <section class="panel" aria-label="Events">
            <EventList events={shown} />
          </section>
        )}
      <p class="faint small">
        Since this page was opened, and the last start and end of each process before that. All of
        it: <code>procsup events</code>
      </p>
    </>
  );
}

/** The list; without names where all are of one process. */
export function EventList({ events, named = true }: {
  readonly events: readonly EventRow[];
  readonly named?: boolean;
}) {
  if (events.length === 0) return <p class="faint">Nothing has happened yet.</p>;
  return (
    <ol class="events">
      {events.map(({ key, type, at, name, reason }) => (
        <li key={key}>
          <time dateTime={new Date(at).toISOString()} title={dateTime(at)}>
            {relative(at, clock.value)}
          </time>
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

/** The reason of a start may be how the run before it ended. */
function because(type: string, reason: string): string {
  const isUp = type === "starting" || type === "running";
  return isUp && /^(exited|ended|killed)/.test(reason) ? `again after it ${reason}` : reason;
}
