/** Everything that happened while this page was open, and what is known of before. */

import { events } from "../data/news.ts";
import { place, setParams } from "../data/router.ts";
import { processes } from "../data/store.ts";
import { Empty, Loading } from "../parts/empty.tsx";
import { EventList } from "../parts/event_list.tsx";
import { Icon } from "../parts/icon.tsx";

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
