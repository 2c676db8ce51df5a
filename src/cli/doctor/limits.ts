/** What the kernel grants the daemon and its apps. */

import { controllersOf } from "../../platform/cgroup.ts";
import { readDaemonRecord } from "../../platform/daemon_record.ts";
import { isFree } from "../../platform/lock.ts";
import { pathsIn } from "../../platform/paths.ts";
import { readProc } from "../../platform/process_table.ts";
import { type Finding, ok, warning } from "./finding.ts";

/** Less than this is used up by a few dozen apps. */
const FEW = { files: 4096, processes: 1024, watches: 16_384, watchers: 128 } as const;

/** The limits of the daemon that runs, else those that one started from here would have. */
export function checkLimits(home: string): Finding[] {
  const pid = isFree(pathsIn(home).lock) ? undefined : readDaemonRecord(home)?.pid;
  const who = pid ?? "self";
  const limits = readProc(`/proc/${who}/limits`) ?? "";
  const raise = (name: string, to: number) =>
    pid === undefined ? `ulimit -H${name[0]} ${to}` : `sudo prlimit --pid ${pid} --${name}=${to}`;
  return [
    ...atLeast("open files", hardLimit(limits, "open files"), FEW.files, raise("nofile", 65_536)),
    ...atLeast("processes", hardLimit(limits, "processes"), FEW.processes, raise("uproc", 65_536)),
    ...inotify("watches", FEW.watches, 524_288),
    ...inotify("instances", FEW.watchers, 1024),
    ...checkGroups(who),
  ];
}

/** Whether apps can be given limits of their own. */
function checkGroups(pid: number | "self"): Finding[] {
  const controllers = controllersOf(pid);
  if (controllers === undefined) return [];
  const wanted = ["memory", "cpu", "pids"].filter((name) => controllers.includes(name));
  if (wanted.length === 3) return [ok("cgroup", "apps can have limits of memory, cpu and pids")];
  const says = wanted.length === 0 ? "none" : `only those of ${wanted.join(" and ")}`;
  return [ok("cgroup", `of limits.memory, cpu_percent and pids, apps can have ${says} here`)];
}

function inotify(name: string, least: number, better: number): Finding[] {
  const value = Number(readProc(`/proc/sys/fs/inotify/max_user_${name}`) ?? NaN);
  const fix = `sudo sysctl fs.inotify.max_user_${name}=${better}`;
  return atLeast(`inotify ${name}`, value, least, fix);
}

function hardLimit(limits: string, name: string): number {
  const hard = new RegExp(`^Max ${name}\\s+\\S+\\s+(\\S+)`, "m").exec(limits)?.[1];
  return hard === "unlimited" ? Infinity : Number(hard ?? NaN);
}

/** A number that may be too small; nothing where there is none. */
export function atLeast(check: string, value: number, least: number, fix: string): Finding[] {
  if (Number.isNaN(value)) return [];
  const says = value === Infinity ? "no limit" : String(value);
  return [value >= least ? ok(check, says) : warning(check, `${says}, which is little`, fix)];
}
