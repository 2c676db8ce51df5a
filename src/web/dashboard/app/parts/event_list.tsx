/** News, the newest first. */

import { linkTo } from "../data/router.ts";
import { clock } from "../data/store.ts";
import { type EventRow, type State, STATES } from "../data/types.ts";
import { dateTime, relative } from "../text/format.ts";
import { StateShape } from "./state_badge.tsx";

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
