/**
 * The mark of a run: a limit on file locks, which Linux has ignored since 2.4.25. Every process
 * inherits it and nothing takes it off, not a new title or environment, another session or user. So it
 * finds an app such as nginx that becomes a background process and overwrites its environment. Every
 * user can read it and give it to own processes: it only counts for the users of the app.
 */

import { mayCallC, openLibc } from "../libc.ts";
import { isLinux } from "../os.ts";
import { readProc } from "../scan/process_table.ts";

/** The limit of a process without a mark that must not have that of another run. */
const NO_MARK = 0;

/** The mark of a run, from the first 48 bits of its id; undefined for an id that is not a UUID. */
export function markOf(runId: string): number | undefined {
  const mark = Number(`0x${runId.slice(0, 13).replace("-", "")}`);
  return mark > NO_MARK ? mark : undefined;
}

/** The mark of a process; undefined if it has none. */
export function markOn(pid: number | "self"): number | undefined {
  const limit = /^Max file locks\s+(\d+)/m.exec(readProc(`/proc/${pid}/limits`) ?? "")?.[1];
  return limit === undefined || Number(limit) === NO_MARK ? undefined : Number(limit);
}

/**
 * A shell line that marks its process. The letter differs: dash and busybox, bash, mksh. A process
 * that has another mark and may not raise it gets none.
 */
export function markLine(runId: string): string[] {
  const mark = isLinux ? markOf(runId) : undefined;
  if (mark === undefined) return [];
  const set = (value: number) => ["w", "x", "L"].map((letter) => `ulimit -${letter} ${value}`);
  return [`{ ${[...set(mark), ...set(NO_MARK)].join(" || ")} || :; } 2>/dev/null`];
}

const RLIMIT_LOCKS = 10;

/** It takes two numbers of 64 bits: the limit, and the most it can be set to. */
const SETRLIMIT = { setrlimit: { parameters: ["i32", "buffer"], result: "i32" } } as const;

/** Takes the mark off this process: a daemon that an app started is no part of that app. */
export function dropOwnMark(): void {
  if (!isLinux || markOn("self") === undefined || !mayCallC()) return;
  openLibc(SETRLIMIT).setrlimit(
    RLIMIT_LOCKS,
    new BigUint64Array([BigInt(NO_MARK), BigInt(NO_MARK)]),
  );
}
