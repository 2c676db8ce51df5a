/** Pages with the log viewer, for any number of apps. */

import { type LogQuery, readLogQuery, writeLogQuery } from "./log_query.ts";
import { range } from "../data/range.ts";
import { rangeText } from "../data/time_range.ts";
import { linkTo, place, replacePlace } from "../data/router.ts";
import { LogView } from "./log_view.tsx";

export function Logs() {
  return (
    <div class="fill">
      <h1 class="unseen">Logs</h1>
      <View targets={place.value.params.getAll("t")} />
    </div>
  );
}

/** The viewer on the page of an app. */
export function ProcessLog({ name }: { name: string }) {
  return <View targets={[name]} single />;
}

function View({ targets, single = false }: {
  readonly targets: readonly string[];
  readonly single?: boolean;
}) {
  const query = { ...readLogQuery(place.value.params), targets };
  const text = rangeText(range.value);
  const paramsOf = (changed: LogQuery, range: string) =>
    new URLSearchParams([
      ...(single ? [["tab", "logs"]] : []),
      ...writeLogQuery(single ? { ...changed, targets: [] } : changed),
      ...new URLSearchParams(range),
    ] as [string, string][]);
  return (
    <LogView
      key={range.value.span === undefined ? `${text} ${query.mark}` : "live"}
      single={single}
      query={query}
      onQuery={(changed) => replacePlace(place.value.path, paramsOf(changed, text))}
      linkOf={(changed, range) => linkTo(place.value.path, paramsOf(changed, rangeText(range)))}
    />
  );
}
