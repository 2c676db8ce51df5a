/** Logs of any number of apps, as one. */

import { readLogQuery, writeLogQuery } from "../data/log_query.ts";
import { place, replaceParams } from "../data/router.ts";
import { LogView } from "../parts/log_view.tsx";

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
