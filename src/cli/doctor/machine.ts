/** Checks the machine: disk space, clock and limits. */

import { ifPossible } from "../../model/errors.ts";
import { shellWord } from "../../model/shell_line.ts";
import { humanBytes } from "../../model/human_bytes.ts";
import { dirname } from "../../npm/path.js";
import { controllersOf } from "../../platform/cgroup.ts";
import { readDaemonRecord } from "../../platform/daemon_record.ts";
import { diskOf, type DiskSpace } from "../../platform/host.ts";
import { isFree } from "../../platform/lock.ts";
import { pathsIn } from "../../platform/paths.ts";
import { readProc } from "../../platform/process_table.ts";
import { unpackedFolder } from "../../platform/own_program.ts";
import { lookAt } from "../../platform/stat.ts";
import { counted, humanDuration } from "../human.ts";
import { type Finding, listed, ok, pathsBelow, warning, wrong } from "./finding.ts";

/** Bytes. Below FULL the next rotation or save may fail; a busy app uses NEARLY_FULL in an hour. */
const FULL = 50e6;
const NEARLY_FULL = 500e6;

/** Checks the file system of a home. */
export async function checkDisk(home: string): Promise<Finding[]> {
  const space = await diskOf(existing(home));
  return space.total === 0 ? [] : [judgeSpace(space, largestLogs(home))];
}

/** The finding for the space left; `largest` is the app with the largest logs. */
export function judgeSpace(
  { available }: DiskSpace,
  largest?: { name: string; bytes: number },
): Finding {
  const left = `${humanBytes(available)} are left`;
  if (available >= NEARLY_FULL) return ok("disk", left);
  const logs = largest === undefined
    ? ""
    : `; the logs of ${largest.name} take ${humanBytes(largest.bytes)}`;
  const fix = largest === undefined ? undefined : `procsup flush ${shellWord(largest.name)}`;
  return available < FULL
    ? wrong("disk", `only ${left}${logs}`, fix)
    : warning("disk", `${left}${logs}`, fix);
}

function largestLogs(home: string): { name: string; bytes: number } | undefined {
  const { apps } = pathsIn(home);
  return listed(apps)
    .map((name) => ({ name, bytes: bytesIn(`${apps}/${name}`) }))
    .filter(({ bytes }) => bytes > 0)
    .sort((a, b) => b.bytes - a.bytes)[0];
}

/** Disk usage of a folder and its subfolders. */
function bytesIn(folder: string): number {
  return pathsBelow(folder).reduce((sum, path) => {
    const { isDirectory, blocks, size = 0 } = ifPossible(() => Deno.lstatSync(path)) ?? {};
    return sum + (blocks ? blocks * 512 : size) + (isDirectory ? bytesIn(path) : 0);
  }, 0);
}

function existing(path: string): string {
  return path === "/" || lookAt(path) !== undefined ? path : existing(dirname(path));
}

/** Every build of this program is newer than this. */
const BUILT = Date.UTC(2025, 0, 1);

/** The clocks of network file systems may be a little ahead. */
const SLACK_MS = 60_000;

/** Compares the clock with the times of files written earlier. */
export function checkClock(home: string, now: number = Date.now()): Finding {
  const fix = "sudo timedatectl set-ntp true";
  const date = new Date(now).toISOString();
  if (now < BUILT) return wrong("clock", `it shows ${date}, before this program was built`, fix);
  const { records, daemonLog } = pathsIn(home);
  const written = [daemonLog, ...pathsBelow(records)]
    .map((path) => ({ path, ahead: (lookAt(path)?.mtime?.getTime() ?? 0) - now }))
    .reduce((a, b) => b.ahead > a.ahead ? b : a);
  if (written.ahead <= SLACK_MS) return ok("clock", date);
  const says = `${written.path} is from ${humanDuration(written.ahead)} ahead: the clock went back`;
  return wrong("clock", says, fix);
}

/** A few dozen apps use up less than this. */
const FEW = { files: 4096, processes: 1024, watches: 16_384, watchers: 128 } as const;

/** Checks the limits of the running daemon, or those that a new one would inherit. */
export function checkLimits(home: string): Finding[] {
  const pid = isFree(pathsIn(home).lock) ? undefined : readDaemonRecord(home)?.pid;
  const who = pid ?? "self";
  const limits = readProc(`/proc/${who}/limits`) ?? "";
  const raise = (letter: string, name: string) =>
    pid === undefined ? `ulimit -H${letter} 65536` : `sudo prlimit --pid ${pid} --${name}=65536`;
  return [
    ...atLeast("open files", hardLimit(limits, "open files"), FEW.files, raise("n", "nofile")),
    ...atLeast("processes", hardLimit(limits, "processes"), FEW.processes, raise("u", "nproc")),
    ...inotify("watches", FEW.watches, 524_288),
    ...inotify("instances", FEW.watchers, 1024),
    ...checkGroups(who),
  ];
}

/** Reports the cgroup limits that apps can have. */
function checkGroups(pid: number | "self"): Finding[] {
  const controllers = controllersOf(pid);
  if (controllers === undefined) return [];
  const missing = ["memory", "cpu", "pids"].filter((name) => !controllers.includes(name));
  if (missing.length === 0) return [ok("cgroup", "apps can have limits of memory, cpu and pids")];
  return [ok("cgroup", `apps cannot have limits of ${missing.join(", ")} here`)];
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

/** The finding for a number that may be too small; empty if it is unknown. */
export function atLeast(check: string, value: number, least: number, fix: string): Finding[] {
  if (Number.isNaN(value)) return [];
  const says = value === Infinity ? "no limit" : String(value);
  return [value >= least ? ok(check, says) : warning(check, `${says}, which is low`, fix)];
}

/** True if a process runs from this folder; see platform/unpacked.ts. */
function isHeld(folder: string): boolean {
  return listed(folder).includes(".used") && !isFree(`${folder}/.used`);
}

/** Checks for unpacked folders of old versions. Empty if this program was not unpacked. */
export function checkUnpacked(home: string, own: string | undefined = unpackedFolder()): Finding[] {
  if (own === undefined) return [];
  const used = readDaemonRecord(home)?.words.join("\n") ?? "";
  const old = pathsBelow(dirname(own))
    .filter((path) => /\/[0-9a-f]{64}$/.test(path))
    .filter((path) => path !== own && !used.includes(path) && !isHeld(path));
  if (old.length === 0) return [ok("versions", "no old ones left behind")];
  const bytes = old.reduce((sum, path) => sum + bytesIn(path), 0);
  const says = `${counted(old.length, "old one")} left behind, ${humanBytes(bytes)}`;
  return [warning("versions", says, `rm -r ${old.map(shellWord).join(" ")}`)];
}
