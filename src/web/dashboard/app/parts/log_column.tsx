/** One column of a log view: its lines, filtered and searched. */

import { type Signal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { LogBuffer } from "../data/log_buffer.ts";
import type { LogPane } from "../data/log_panes.ts";
import { fingerprint, type LogQuery } from "../data/log_query.ts";
import { linkTo } from "../data/router.ts";
import { processList } from "../data/store.ts";
import { LogList } from "./log_list.tsx";
import { StateShape } from "./state_badge.tsx";

/** What it shows. */
export interface LogColumnProps {
  readonly pane: LogPane;
  readonly query: LogQuery;
  readonly pattern: RegExp | undefined;
  readonly follow: Signal<boolean>;
  readonly showName: boolean;
  /** Whether lines may still come that were written before. */
  readonly isLoading: boolean;
  readonly hueOf: (name: string) => number;
  /** Somebody turned to this column. */
  readonly onActive: () => void;
}

/** The column. */
export function LogColumn(props: LogColumnProps) {
  const { pane, query, pattern, follow, showName, isLoading, hueOf, onActive } = props;
  const { buffer, cursor, opened, target } = pane;
  const { search, isRegex, matchCase, invert, onlyMatches, stream, level } = query;
  useEffect(() => {
    cursor.value = opened.value = -1;
    void buffer.filter(query);
  }, [buffer, search, isRegex, matchCase, invert, onlyMatches, stream, level]);
  usePermalink(buffer, query, (index) => {
    follow.value = false;
    cursor.value = opened.value = index;
    onActive();
  });
  return (
    <section class="log-column" aria-label={target || undefined} onPointerDown={onActive}>
      {target && <ColumnHead name={target} />}
      <EmptyNote buffer={buffer} isLoading={isLoading} />
      <LogList
        buffer={buffer}
        pattern={pattern}
        follow={follow}
        cursor={cursor}
        showName={showName}
        hueOf={hueOf}
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

/** Why there is nothing to see. */
function EmptyNote({ buffer, isLoading }: { buffer: LogBuffer; isLoading: boolean }) {
  buffer.version.value;
  if (buffer.shown.length > 0) return null;
  const text = isLoading
    ? "Reading…"
    : buffer.size === 0
    ? "Nothing has been written yet"
    : "No line passes the filter";
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
