/** Whether the kernel killed a process for lack of memory: from its log, or a control group. */

import { ifPossible } from "../../model/errors.ts";
import { readFileIfAny } from "../files/atomic_file.ts";
import { mayCallC, openLibrary } from "../libc.ts";
import { isLinux } from "../os.ts";

const CALLS = {
  klogctl: { parameters: ["i32", "buffer", "i32"], result: "i32" },
} as const;

/** Reads the end of the log, and leaves it as it is. */
const SYSLOG_ACTION_READ_ALL = 3;

const LOG_BYTES = 256 * 1024;

const TELLS_KILL = /\bKilled process \d|oom-kill:/;

/** The lines about kills at the end of the kernel's log; empty if we may not read it. */
function kernelLog(): string {
  if (!isLinux || !mayCallC()) return "";
  const bytes = new Uint8Array(LOG_BYTES);
  // Closed, or the resource sanitizer of a test that uses the library would report it.
  const libc = openLibrary(CALLS);
  const length = libc.symbols.klogctl(SYSLOG_ACTION_READ_ALL, bytes, LOG_BYTES);
  libc.close();
  const log = new TextDecoder().decode(bytes.subarray(0, Math.max(0, length)));
  // Nothing else is kept.
  return log.split("\n").filter((line) => TELLS_KILL.test(line)).join("\n");
}

/** The log as of a number of such kills on this machine. */
let known: { readonly kills: string; readonly log: string } | undefined;

/**
 * The kernel's log, at least up to the last such kill. It takes 3 ms to read, for which the restart of
 * an app would wait: the kernel counts the kills, mostly none.
 */
function logOfKills(): string {
  const kills = killsIn(readFileIfAny("/proc/vmstat") ?? "");
  if (kills === "0") return "";
  if (kills === undefined) return kernelLog();
  if (known?.kills !== kills) known = { kills, log: kernelLog() };
  return known.log;
}

/** The number of kills for lack of memory since the boot; undefined if it is not counted. */
export function killsIn(vmstat: string): string | undefined {
  return /^oom_kill (\d+)$/m.exec(vmstat)?.[1];
}

/** Whether a log of the kernel reports that it killed a process, or one of a control group. Pure. */
export function tellsOutOfMemory(log: string, pid: number, group: string): boolean {
  const isVictim = new RegExp(`\\bKilled process ${pid}\\b`).test(log);
  return isVictim ||
    log.split("\n").some((line) =>
      line.includes("oom-kill:") && line.includes(`/procsup/${group},`)
    );
}

/**
 * Whether the kernel killed the app with this pid, or a process of its group, for lack of memory.
 * `folder` is the path of the group.
 */
export function isOutOfMemory(pid: number, folder: string): boolean {
  const counts = ifPossible(() => readFileIfAny(`${folder}/memory.events`)) ?? "";
  if (/^oom_kill [1-9]/m.test(counts)) return true;
  const group = folder.slice(folder.lastIndexOf("/") + 1);
  return ifPossible(() => tellsOutOfMemory(logOfKills(), pid, group)) ?? false;
}
