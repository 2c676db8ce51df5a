/** The lines of a view, read as long as it is there. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { LogPanes } from "../data/log_panes.ts";
import { grepOf, type LogQuery } from "../data/log_query.ts";
import { LogSource } from "../data/log_source.ts";

/** Lines before the one that a permalink points at, in milliseconds. */
const CONTEXT_MS = 30_000;
const CONTEXT_LINES = 10_000;
/** Each letter would begin another search of all that there is. */
const TYPING_MS = 300;

/** Reads into the panes. `lines`: of each app, 0 for all. */
export function useLogSource(
  panes: LogPanes,
  query: LogQuery,
  lines: number,
  isAtEnd: () => boolean,
): LogSource | undefined {
  const source = useSignal<LogSource | undefined>(undefined);
  // A permalink is read from a little before its line; leaving it reads from the end again.
  const since = query.at > 0 && lines > 0 ? query.at - CONTEXT_MS : 0;
  const grep = grepOf(query);
  const invert = grep !== undefined && query.invert;
  useEffect(() => {
    let opened: LogSource | undefined;
    const open = () => {
      opened = new LogSource(panes, {
        targets: query.targets,
        lines: grep !== undefined ? 0 : since > 0 ? CONTEXT_LINES : lines,
        since: grep !== undefined ? 0 : since,
        grep,
        invert,
        isAtEnd,
      });
      source.value = opened;
    };
    const timer = grep === undefined ? undefined : setTimeout(open, TYPING_MS);
    if (grep === undefined) open();
    return () => (clearTimeout(timer), opened?.close());
  }, [panes, lines, since, grep, invert]);
  return source.value;
}
