/** The log viewer: of one process on its page, of several on a page of its own. */

import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { useKeys } from "../data/keys.ts";
import { LogBuffer } from "../data/log_buffer.ts";
import { fingerprint, type LogQuery, patternOf } from "../data/log_query.ts";
import { FIRST_LINES, LogSource } from "../data/log_source.ts";
import { isPhone } from "../data/media.ts";
import { processList } from "../data/store.ts";
import { counted } from "../text/format.ts";
import { LineDetails } from "./line_details.tsx";
import { LogList } from "./log_list.tsx";
import { LogToolbar } from "./log_toolbar.tsx";

/** What a viewer shows. */
export interface LogViewProps {
  readonly query: LogQuery;
  readonly onQuery: (query: LogQuery) => void;
  /** Whether there is only ever one app in it. */
  readonly single?: boolean;
}

/** Lines before the one that a permalink points at, in milliseconds. */
const CONTEXT_MS = 30_000;
const HUES = 8;

/** The viewer. */
export function LogView({ query, onQuery, single = false }: LogViewProps) {
  const targets = query.targets.join("\n");
  const lines = useSignal(FIRST_LINES);
  const follow = useSignal(query.at === 0);
  const cursor = useSignal(-1);
  const opened = useSignal(-1);
  const wrap = useSignal(isPhone.value);
  const showTime = useSignal(!isPhone.value);
  const buffer = useMemo(() => new LogBuffer(), [targets]);
  const source = useSource(buffer, query, lines.value);
  const { search, isRegex, matchCase, invert, onlyMatches, stream, level } = query;
  const pattern = useMemo(() => patternOf(query), [search, isRegex, matchCase]);
  useEffect(() => {
    cursor.value = opened.value = -1;
    void buffer.filter(query);
  }, [buffer, search, isRegex, matchCase, invert, onlyMatches, stream, level]);
  usePermalink(buffer, query, (index) => {
    follow.value = false;
    cursor.value = opened.value = index;
  });
  const hueOf = useMemo(() => hues(), []);
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
    Escape: () => opened.value >= 0 ? (opened.value = -1) : onQuery({ ...query, search: "" }),
  });
  buffer.version.value;
  const line = buffer.shown[opened.value];
  return (
    <div class="log-view">
      <LogToolbar
        query={query}
        onQuery={onQuery}
        buffer={buffer}
        isValid={pattern !== null}
        current={buffer.matches.indexOf(cursor.value)}
        onMatch={toMatch}
        follow={follow}
        wrap={wrap}
        showTime={showTime}
        single={single}
      />
      <LogStatus
        buffer={buffer}
        source={source}
        hasAll={lines.value === 0}
        onAll={() => (follow.value = false, lines.value = 0)}
      />
      <LogList
        buffer={buffer}
        pattern={invert ? undefined : pattern ?? undefined}
        follow={follow}
        cursor={cursor}
        wrap={wrap.value}
        showTime={showTime.value}
        showName={!single && query.targets.length !== 1}
        hueOf={hueOf}
        onOpen={(index) => {
          if (getSelection()?.isCollapsed === false) return;
          follow.value = false;
          cursor.value = index;
          opened.value = opened.value === index ? -1 : index;
        }}
      />
      {line && <LineDetails line={line} query={query} onClose={() => opened.value = -1} />}
    </div>
  );
}

function LogStatus(
  { buffer, source, hasAll, onAll }: {
    readonly buffer: LogBuffer;
    readonly source: LogSource | undefined;
    readonly hasAll: boolean;
    readonly onAll: () => void;
  },
) {
  buffer.version.value;
  const shown = buffer.shown.length;
  const count = shown === buffer.size
    ? counted(shown, "line")
    : `${shown.toLocaleString("en")} of ${counted(buffer.size, "line")}`;
  return (
    <div class="log-status small">
      <span>{count}</span>
      {(source?.isLoading.value || buffer.isFiltering.value) && (
        <span class="spinner" aria-label="Working" role="img" />
      )}
      {source?.error.value && <span class="bad" role="alert">{source.error}</span>}
      {!hasAll && (
        <button type="button" class="text-button" onClick={onAll}>Load all there are</button>
      )}
    </div>
  );
}

/** The lines, read as long as the viewer is there. */
function useSource(buffer: LogBuffer, query: LogQuery, lines: number): LogSource | undefined {
  const source = useSignal<LogSource | undefined>(undefined);
  // A permalink is read from a little before its line; leaving it reads from the end again.
  const since = query.at > 0 && lines > 0 ? query.at - CONTEXT_MS : 0;
  useEffect(() => {
    const opened = new LogSource(buffer, {
      targets: query.targets,
      lines: since > 0 ? 10_000 : lines,
      since,
    });
    source.value = opened;
    return () => opened.close();
  }, [buffer, lines, since]);
  return source.value;
}

/** Tells once where the line of a permalink is. */
function usePermalink(buffer: LogBuffer, query: LogQuery, found: (index: number) => void): void {
  const sought = useRef(query.mark);
  useSignalEffect(() => {
    buffer.version.value;
    if (sought.current === "") return;
    const index = buffer.shown.findLastIndex(({ name, stream, text }) =>
      fingerprint(name, stream, text) === sought.current
    );
    if (index < 0) return;
    sought.current = "";
    queueMicrotask(() => found(index));
  });
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
