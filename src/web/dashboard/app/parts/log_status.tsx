/** How much of a log is loaded and shown, and how to get at the rest. */

import type { LogPanes } from "../data/log_panes.ts";
import type { LogQuery } from "../data/log_query.ts";
import type { LogSource } from "../data/log_source.ts";
import { counted } from "../text/format.ts";

/** What it tells of. */
export interface LogStatusProps {
  readonly panes: LogPanes;
  readonly source: LogSource | undefined;
  readonly query: LogQuery;
  readonly onQuery: (query: LogQuery) => void;
  /** Whether there is nothing older to load. */
  readonly hasAll: boolean;
  readonly onAll: () => void;
}

/** The line between the tools and the lines. */
export function LogStatus({ panes, source, query, onQuery, hasAll, onAll }: LogStatusProps) {
  let [shown, size, isFiltering] = [0, 0, false];
  for (const { buffer } of panes.list) {
    buffer.version.value;
    shown += buffer.shown.length;
    size += buffer.size;
    isFiltering ||= buffer.isFiltering.value;
  }
  const { search, deep } = query;
  const count = shown === size
    ? counted(shown, "line")
    : `${shown.toLocaleString("en")} of ${counted(size, "line")}`;
  const isLoading = source?.isLoading.value ?? false;
  return (
    <div class="log-status small">
      <span role="status">
        {deep && search !== "" ? `${count} in everything the daemon has kept` : count}
      </span>
      {(isLoading || isFiltering) && <span class="spinner" aria-label="Working" role="img" />}
      {source?.error.value && <span class="bad" role="alert">{source.error}</span>}
      {!hasAll && search === "" && (
        <button type="button" class="text-button" onClick={onAll}>Load all there are</button>
      )}
      {search !== "" && (
        <button
          type="button"
          class="text-button"
          onClick={() => onQuery({ ...query, deep: !deep })}
        >
          {deep ? "Back to the newest lines" : "Search older lines on the server"}
        </button>
      )}
    </div>
  );
}
