/** The log viewer: of one process on its page, of several on a page of its own. */

import { type Signal, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { RangePicker } from "../controls/range_picker.tsx";
import { counted } from "../data/format.ts";
import { linkTo, place, range, replacePlace, setRange } from "../data/router.ts";
import { isOneProcess, processList } from "../data/store.ts";
import { between, endsOf, lookingAt, NOW, rangeText } from "../data/time_range.ts";
import { LineDetails, type LineDetailsProps } from "./line_details.tsx";
import { type LogBuffer, type LogPane, LogPanes } from "./log_buffer.ts";
import { LogHistogram } from "./log_histogram.tsx";
import { LogList, type LogListProps } from "./log_list.tsx";
import { isRaw, wrap } from "../shell/settings.ts";
import type { LogRow } from "./log_lines.ts";
import {
  filterOf,
  isFiltered,
  type LogQuery,
  markOf,
  patternOf,
  readLogQuery,
  writeLogQuery,
} from "./log_query.ts";
import { LogPatterns } from "./log_patterns.tsx";
import { LogToolbar } from "./log_toolbar.tsx";
import { type OpenLog, useLogSource } from "./open_log.ts";
import { StateShape } from "../process/process_figures.tsx";
import { useKeys } from "../shell/keys.ts";
import { plainLine } from "./ansi.ts";
import { levelOf } from "../../../../model/log_level.ts";

export function Logs() {
  return (
    <div class="fill">
      <h1 class="unseen">Logs</h1>
      <View targets={place.value.params.getAll("t")} />
    </div>
  );
}

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

interface LogViewProps extends Pick<LineDetailsProps, "query" | "onQuery" | "linkOf"> {
  /** True on the page of a single app. */
  readonly single: boolean;
}

function LogView({ query, onQuery, linkOf, single }: LogViewProps) {
  const { targets, columns, search, isRegex, matchCase, level } = query;
  const follow = useSignal(range.value.span !== undefined);
  // A fixed range cannot be followed: switch to one that ends now.
  useSignalEffect(() => {
    if (follow.value && range.peek().span === undefined) setRange(NOW);
  });
  const panes = useMemo(() => new LogPanes(targets, columns), [targets.join("\n"), columns]);
  const total = useSignal<number | undefined>(undefined);
  const source = useLogSource(panes, query, follow);
  const pattern = useMemo(() => patternOf(query), [search, isRegex, matchCase]);
  const hueOf = useMemo(() => hues(), []);
  const { buffer } = panes.current;
  const { cursor, opened } = buffer;
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
    v: () => isRaw.value = !isRaw.value,
    e: () => onQuery({ ...query, level: level === "error" ? "" : "error" }),
    n: () => toMatch(1),
    N: () => toMatch(-1),
    j: () => move(1),
    k: () => move(-1),
    Enter: () => opened.value = opened.value === cursor.value ? -1 : cursor.value,
    Escape: () => {
      if (opened.value >= 0) opened.value = -1;
      else onQuery({ ...query, search: "" });
    },
  });
  buffer.version.value;
  const line = buffer.shown[opened.value];
  return (
    <div class="fill log-view">
      <LogToolbar
        {...{ query, onQuery, panes, follow, single }}
        problem={typeof pattern === "string" ? pattern : ""}
        onMatch={toMatch}
      />
      <LogHistogram key={JSON.stringify([targets, filterOf(query)])} {...{ query, total }} />
      {query.isGrouped
        ? (
          <>
            <RangePicker />
            <LogPatterns
              {...{ query, onQuery }}
              lineLink={(mark, at) =>
                linkOf({ ...query, isGrouped: false, mark }, lookingAt(at, range.value))}
            />
          </>
        )
        : (
          <>
            <LogStatus {...{ panes, source, query, total }} />
            <div class={panes.list.length > 1 ? "log-columns" : "log-column-frame"}>
              {panes.list.map((one, index) => (
                <LogColumn
                  key={one.target}
                  {...{ query, follow, source, hueOf }}
                  onEdge={(edge) => void (edge === "top" ? source?.older() : source?.later())}
                  pane={one}
                  pattern={query.invert || typeof pattern === "string" ? undefined : pattern}
                  showName={!isOneProcess(one.target ? [one.target] : targets)}
                  onActive={() => panes.active.value = index}
                />
              ))}
            </div>
          </>
        )}
      {line && (
        <LineDetails
          {...{ line, query, onQuery, linkOf }}
          onClose={() => opened.value = -1}
        />
      )}
    </div>
  );
}

/** Assigns colours to apps in the order of appearance. */
function hues(): (name: string) => number {
  const known = new Map(processList.peek().map(({ name }, index) => [name, index]));
  return (name) => {
    if (!known.has(name)) known.set(name, known.size);
    return known.get(name)!;
  };
}

/** The match after or before a position. Wraps around. */
function nextMatch(matches: readonly number[], from: number, step: 1 | -1): number | undefined {
  if (matches.length === 0) return undefined;
  if (from < 0) return step > 0 ? matches[0] : matches.at(-1);
  const next = step > 0 ? matches.find((at) => at > from) : matches.findLast((at) => at < from);
  return next ?? (step > 0 ? matches[0] : matches.at(-1));
}

interface LogColumnProps extends Omit<LogListProps, "buffer" | "onOpen"> {
  readonly pane: LogPane;
  readonly query: LogQuery;
  readonly source: OpenLog | undefined;
  /** The user focused this column. */
  readonly onActive: () => void;
}

function LogColumn({ pane, query, source, onActive, ...shown }: LogColumnProps) {
  const { buffer, target } = pane;
  const { follow } = shown;
  const { cursor, opened } = buffer;
  const { search, isRegex, matchCase, invert, stream } = query;
  useEffect(() => {
    void buffer.filter({ ...query, isRaw: isRaw.value });
  }, [buffer, search, isRegex, matchCase, invert, stream, isRaw.value]);
  useMoment(buffer, query, source, () => {
    follow.value = false;
    onActive();
  });
  return (
    <section class="log-column" aria-label={target || undefined} onPointerDown={onActive}>
      {target && <ColumnHead name={target} />}
      <EmptyNote {...{ buffer, query }} isLoading={source?.isLoading.value ?? true} />
      <LogList
        {...shown}
        buffer={buffer}
        onOpen={(index) => {
          if (getSelection()?.isCollapsed === false) return;
          onActive();
          follow.value = false;
          cursor.value = index;
          opened.value = opened.value === index ? -1 : index;
        }}
      />
    </section>
  );
}

/** Goes once to the line of a permalink, or to the line nearest to the selected moment. */
function useMoment(
  buffer: LogBuffer,
  { mark }: LogQuery,
  source: OpenLog | undefined,
  found: () => void,
): void {
  const isFound = useRef(false);
  useSignalEffect(() => {
    buffer.version.value;
    const { at } = range.value;
    if (isFound.current || at === 0) return;
    const isRead = source?.isLoading.value === false;
    const marked = buffer.shown.findIndex((line) => markOf(line) === mark);
    const oldest = buffer.shown[0]?.at ?? 0;
    // Thousands of lines may have been written in these seconds.
    const mayBeOlder = oldest > at || (mark !== "" && marked < 0 && oldest === at);
    if (isRead && mayBeOlder && source.canAddOlder) return void source.older();
    if (isRead && oldest === 0 && source.hasLater.value) return void source.later();
    // The log may have been emptied since the link was made: then the nearest one.
    const index = marked >= 0 ? marked : nearest(buffer.shown, at, isRead);
    if (index < 0) return;
    isFound.current = true;
    queueMicrotask(() => {
      buffer.cursor.value = index;
      if (mark !== "") buffer.opened.value = index;
      found();
    });
  });
}

/** Maximum time between an event and its line. */
const CLOSE_MS = 1000;

/**
 * Position of the last error within a second of a moment, else of the nearest line. -1 while better
 * lines may still arrive.
 */
function nearest(lines: readonly LogRow[], at: number, isWhole: boolean): number {
  const isPassed = (lines.at(-1)?.at ?? 0) > at + CLOSE_MS;
  if (!isPassed && !isWhole) return -1;
  const error = lines.findLastIndex((line) =>
    Math.abs(line.at - at) <= CLOSE_MS && levelOf(plainLine(line.text)) === "error"
  );
  if (error >= 0) return error;
  const after = lines.findIndex((line) => line.at >= at);
  if (after < 0) return lines.length - 1;
  const before = lines[after - 1];
  return before !== undefined && at - before.at < lines[after]!.at - at ? after - 1 : after;
}

/** The reason why no lines are shown. */
function EmptyNote({ buffer, query, isLoading }: {
  readonly buffer: LogBuffer;
  readonly query: LogQuery;
  readonly isLoading: boolean;
}) {
  buffer.version.value;
  if (buffer.shown.length > 0) return null;
  const text = isLoading
    ? "Reading…"
    : buffer.size > 0 || isFiltered(query)
    ? "No line of this time passes the filter"
    : range.value.span === undefined
    ? "Nothing was written in this time"
    : "Nothing has been written yet";
  return <p class="log-note">{text}</p>;
}

function ColumnHead({ name }: { name: string }) {
  const process = processList.value.find((one) => one.name === name);
  return (
    <h2 class="log-column-head">
      {process && <StateShape state={process.state} />}
      <a class="clip" href={linkTo(["processes", name])} title={name}>{name}</a>
    </h2>
  );
}

interface LogStatusProps {
  readonly panes: LogPanes;
  readonly source: OpenLog | undefined;
  readonly query: LogQuery;
  /** Number of lines in the range that the daemon counted; undefined if not known. */
  readonly total: Signal<number | undefined>;
}

function LogStatus({ panes, source, query, total }: LogStatusProps) {
  let [shown, size, isFiltering, oldest] = [0, 0, false, Infinity];
  for (const { buffer } of panes.list) {
    buffer.version.value;
    oldest = Math.min(oldest, buffer.shown[0]?.at ?? Infinity);
    shown += buffer.shown.length + buffer.folded;
    size += buffer.size;
    isFiltering ||= buffer.isFiltering.value;
  }
  const isLoading = source?.isLoading.value ?? true;
  const hasOlder = source?.hasOlder.value ?? false;
  const of = hasOlder && query.stream === "" && isFiltered(query)
    ? Math.max(total.value ?? 0, size)
    : size;
  const count = shown === of
    ? counted(shown, "line")
    : `${shown.toLocaleString("en")} of ${counted(of, "line")}`;
  return (
    <div class="log-status row wrap small">
      <RangePicker />
      <span role="status">
        {isFiltered(query) ? `${count} in the time shown` : count}
      </span>
      {(isLoading || isFiltering) && <span class="spinner" aria-label="Working" role="img" />}
      {hasOlder && (
        <button
          type="button"
          class="text-button"
          title={panes.isFull ? "The page is full: this opens the time before" : undefined}
          onClick={() => {
            if (!panes.isFull) void source!.older();
            else setRange(between(endsOf(range.value, oldest)[0], oldest + 1));
          }}
        >
          Older lines
        </button>
      )}
      {source?.error.value && <span class="bad" role="alert">{source.error}</span>}
    </div>
  );
}
