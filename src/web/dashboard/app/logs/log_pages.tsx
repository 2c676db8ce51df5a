/** Logs of any number of apps, as one. */

import { useSignal } from "@preact/signals";
import { type LogQuery, NO_QUERY, readLogQuery, writeLogQuery } from "./log_query.ts";
import { place, replaceParams } from "../data/router.ts";
import { LogView } from "./log_view.tsx";

/** The screen. */
export function Logs() {
  const query = readLogQuery(place.value.params);
  return (
    <div class="fill">
      <h1 class="unseen">Logs</h1>
      <LogView
        key={query.at > 0 ? query.mark : "live"}
        query={query}
        onQuery={(changed) => replaceParams(writeLogQuery(changed))}
      />
    </div>
  );
}

/** The viewer. */
export function ProcessLog({ name }: { name: string }) {
  const query = useSignal<LogQuery>({ ...NO_QUERY, targets: [name] });
  return (
    <LogView
      key={query.value.at > 0 ? query.value.mark : "live"}
      single
      query={query.value}
      onQuery={(changed) => query.value = changed}
    />
  );
}
