/**
 * Servers that replace their main process: it starts a second one in its own group, which goes on
 * when the first one ends.
 */

import { ifPossible } from "../../model/errors.ts";
import type { Run } from "../../model/process_state.ts";
import { groupMembers } from "../scan/process_group.ts";
import { textsOf } from "../scan/process_environment.ts";

/**
 * The new main process of a run whose app, with pid `old`, has ended: its parent is not in the group,
 * and its title or environment marks it as the new one.
 */
export function newMain(run: Run, old: number): number | undefined {
  // A table of a moment ago may still have the old one.
  const ended = new Set([run.wrapperPid, old]);
  const rows = (ifPossible(() => groupMembers(run)) ?? []).filter(({ pid }) => !ended.has(pid));
  const pids = new Set(rows.map(({ pid }) => pid));
  // The old one may have left workers, which are about to end.
  const roots = rows.filter(({ pid, ppid }) => !pids.has(ppid) && isNew(pid, old));
  return roots.toSorted((a, b) => Number(a.start) - Number(b.start)).at(-1)?.pid;
}

/** A title set by the program, which overwrites its environment. */
const TITLE = /^(?:gunicorn: |unicorn )(master|worker)\b/;

/** Variables that a main process sets for its successor: of unicorn, and of Go's tableflip. */
const VARIABLE = /^(?:UNICORN_FD|TABLEFLIP_HAS_PARENT_\w+)=/;

function isNew(pid: number, old: number): boolean {
  const title = TITLE.exec(textsOf(`/proc/${pid}/cmdline`).join(" "));
  if (title !== null) return title[1] === "master";
  return textsOf(`/proc/${pid}/environ`).some((text) =>
    text === `GUNICORN_PID=${old}` || VARIABLE.test(text)
  );
}
