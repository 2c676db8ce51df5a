/** The log viewer: of one process on its page, of several on a page of its own. */

import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { useKeys } from "../data/keys.ts";
import { wrap } from "../data/log_looks.ts";
import { LogPanes } from "../data/log_panes.ts";
import { type LogQuery, patternOf } from "../data/log_query.ts";
import { FIRST_LINES } from "../data/log_source.ts";
import { processList } from "../data/store.ts";
import { LineDetails } from "./line_details.tsx";
import { LogColumn } from "./log_column.tsx";
import { LogStatus } from "./log_status.tsx";
import { LogToolbar } from "./log_toolbar.tsx";
import { useLogSource } from "./use_log_source.ts";

/** What a viewer shows. */
export interface LogViewProps {
  readonly query: LogQuery;
  readonly onQuery: (query: LogQuery) => void;
  /** Whether there is only ever one app in it. */
  readonly single?: boolean;
}

const HUES = 8;

/** The viewer. */
export function LogView({ query, onQuery, single = false }: LogViewProps) {
  const { targets, columns, search, isRegex, matchCase, level } = query;
  const lines = useSignal(FIRST_LINES);
  const follow = useSignal(query.at === 0);
  const panes = useMemo(() => new LogPanes(targets, columns), [targets.join("\n"), columns]);
  const source = useLogSource(panes, query, lines.value, () => follow.value);
  const pattern = useMemo(() => patternOf(query), [search, isRegex, matchCase]);
  const hueOf = useMemo(() => hues(), []);
  const pane = panes.current;
  const { buffer, cursor, opened } = pane;
  const toMatch = (step: 1 | -1) => {
    const next = nextMatch(buffer.matches, cursor.value, step);
    if (next === undefined) return;
    follow.value = false;
    cursor.value = next;
  };
  const move = (step: number) => {
    follow.value = false;
    const from = cursor.value < 0 ? buffer.shown.length : cursor.value;
    cursor.value = Math.max(0, Math.min(buffer.shown.length - 1, from + step));
  };
  useKeys({
    f: () => follow.value = !follow.value,
    w: () => wrap.value = !wrap.value,
    e: () => onQuery({ ...query, level: level === "error" ? "" : "error" }),
    n: () => toMatch(1),
    N: () => toMatch(-1),
    j: () => move(1),
    k: () => move(-1),
    Enter: () => opened.value = opened.value === cursor.value ? -1 : cursor.value,
    Escape: () => {
      if (opened.value >= 0) opened.value = -1;
      else onQuery({ ...query, search: "", deep: false });
    },
  });
  buffer.version.value;
  const line = buffer.shown[opened.value];
  return (
    <div class="log-view">
      <LogToolbar
        query={query}
        onQuery={onQuery}
        panes={panes}
        isValid={pattern !== null}
        onMatch={toMatch}
        follow={follow}
        single={single}
      />
      <LogStatus
        panes={panes}
        source={source}
        query={query}
        onQuery={onQuery}
        hasAll={lines.value === 0 || query.deep}
        onAll={() => (follow.value = false, lines.value = 0)}
      />
      <div class={panes.list.length > 1 ? "log-columns" : "log-column-frame"}>
        {panes.list.map((one, index) => (
          <LogColumn
            key={one.target}
            pane={one}
            query={query}
            pattern={query.invert ? undefined : pattern ?? undefined}
            follow={follow}
            showName={!single && targets.length !== 1 && panes.list.length === 1}
            isLoading={source?.isLoading.value ?? true}
            hueOf={hueOf}
            onActive={() => panes.active.value = index}
          />
        ))}
      </div>
      {line && (
        <LineDetails
          line={line}
          query={query}
          onQuery={onQuery}
          onClose={() => opened.value = -1}
        />
      )}
    </div>
  );
}

/** Numbers the apps as they come up, for their colours. */
function hues(): (name: string) => number {
  const known = new Map(processList.peek().map(({ name }, index) => [name, index % HUES]));
  return (name) => {
    if (!known.has(name)) known.set(name, known.size % HUES);
    return known.get(name)!;
  };
}

/** The match after or before a position, round the ends. */
function nextMatch(matches: readonly number[], from: number, step: 1 | -1): number | undefined {
  if (matches.length === 0) return undefined;
  if (from < 0) return step > 0 ? matches[0] : matches.at(-1);
  const next = step > 0 ? matches.find((at) => at > from) : matches.findLast((at) => at < from);
  return next ?? (step > 0 ? matches[0] : matches.at(-1));
}
