/** The columns of a log view. Lines are assigned to them by app. */

import { baseName } from "../../../../model/name.ts";
import { type Signal, signal, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { range } from "../data/router.ts";
import { processesOf } from "../data/store.ts";
import { LogBuffer } from "./log_buffer.ts";
import type { LogRow } from "./log_lines.ts";
import { levelOf } from "../../../../model/log_level.ts";
import { plainLine } from "./ansi.ts";
import { filterOf, fingerprint, type LogQuery } from "./log_query.ts";
import { type LogReceiver, OpenLog } from "./open_log.ts";

export class LogPane {
  readonly buffer = new LogBuffer();
  /** Name of its app; empty for all apps. */
  readonly target: string;

  constructor(target: string) {
    this.target = target;
  }
}

export class LogPanes implements LogReceiver {
  readonly list: readonly LogPane[];
  /** The column that keys act on. */
  readonly active = signal(0);

  /** One column for each target, or one for all if they are merged. */
  constructor(targets: readonly string[], isParted: boolean) {
    this.list = isParted && targets.length > 1
      ? targets.map((target) => new LogPane(target))
      : [new LogPane("")];
  }

  /** The column that keys act on. */
  get current(): LogPane {
    return this.list[this.active.value] ?? this.list[0]!;
  }

  add(lines: readonly Omit<LogRow, "seq">[]): void {
    if (this.list.length === 1) return this.list[0]!.buffer.add(lines);
    for (const [name, own] of Map.groupBy(lines, ({ name }) => name)) {
      const pane = this.list.find(({ target }) => target === name) ??
        this.list.find(({ target }) => target === baseName(name));
      pane?.buffer.add(own);
    }
  }

  clear(): void {
    for (const { buffer } of this.list) buffer.clear();
  }
}

/** Whether targets name a single process. An app with several instances is not one. */
export function isOneProcess(targets: readonly string[]): boolean {
  return targets.length === 1 && processesOf(targets[0]!).length < 2;
}

/** Time read before a selected moment, in milliseconds. */
const CONTEXT_MS = 30_000;
/** Delay while typing: each search reads the full log. */
const TYPING_MS = 300;

/** Reads logs into the panes. `lines` is the number for each app, 0 for all. */
export function useLogSource(
  panes: LogPanes,
  query: LogQuery,
  lines: number,
  follow: Signal<boolean>,
): OpenLog | undefined {
  const source = useSignal<OpenLog | undefined>(undefined);
  const filter = filterOf(query);
  const isSearch = filter.grep !== undefined;
  const { span, from, to, at } = range.value;
  const begin = at > 0 && !isSearch ? Math.max(from, at - CONTEXT_MS) : from;
  useEffect(() => {
    let opened: OpenLog | undefined;
    const open = () => {
      opened = new OpenLog(panes, {
        targets: query.targets,
        lines: isSearch ? 0 : lines,
        between: span === undefined ? [begin, to] : undefined,
        filter,
        // Start at the end, except for a fixed range or a full log.
        began: () => follow.value = span !== undefined && lines > 0,
      });
      source.value = opened;
    };
    const timer = isSearch ? setTimeout(open, TYPING_MS) : undefined;
    if (!isSearch) open();
    return () => (clearTimeout(timer), opened?.close());
  }, [
    panes,
    lines,
    span === undefined ? `${begin} ${to}` : "",
    String(new URLSearchParams(filter)),
  ]);
  return source.value;
}

/** Goes once to the line of a permalink, or to the line nearest to the selected moment. */
export function useMoment(
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
    const index = mark === ""
      ? nearest(buffer.shown, at, source?.isLoading.value === false)
      : buffer.shown.findLastIndex(({ name, stream, text, trace = [] }) =>
        [text, ...trace].some((one) => fingerprint(name, stream, one) === mark)
      );
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
