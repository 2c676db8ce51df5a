/** The checks of `procsup doctor` on a home and on the machine, and what each of them finds. */

import { ifPossible, messageOf, ProcsupError } from "../model/errors.ts";
import { humanBytes } from "../model/size.ts";
import { onlyGiven } from "../model/merge_patch.ts";
import { shellWord } from "../model/shell_line.ts";
import { dirname } from "@std/path";
import { isolationProblem } from "../platform/launch/isolation.ts";
import { controllersOf } from "../platform/scan/cgroup.ts";
import { readDaemonRecord, STATE_FORMAT } from "../platform/daemon_record.ts";
import { diskOf, type DiskSpace } from "../platform/host.ts";
import { isFree } from "../platform/files/lock.ts";
import { unpackedFolder } from "../platform/own_program.ts";
import { checkSocketLength, checkWay, defaultHome, pathsIn } from "../platform/files/paths.ts";
import { readProc } from "../platform/scan/process_table.ts";
import { lookAt, namesIn } from "../platform/files/stat.ts";
import { isSetAside, unsealed } from "../platform/files/state_file.ts";
import { counted, humanDuration } from "./human.ts";

/** The result of one check. */
export interface Finding {
  readonly check: string;
  /** `warning`: it works, but not as well as it could, or not for long. */
  readonly status: "ok" | "warning" | "error";
  readonly says: string;
  readonly fix?: string;
}

export const [ok, warning, wrong] = [found("ok"), found("warning"), found("error")];

function found(status: Finding["status"]) {
  return (check: string, says: string, fix?: string): Finding => (
    { check, status, says, ...onlyGiven({ fix }) }
  );
}

/** The flag that selects this home; empty for the default home. */
export function homeFlag(home: string): string {
  return home === defaultHome() ? "" : ` --home ${shellWord(home)}`;
}

/** True if a daemon runs in a home; false also if the home cannot be read. */
export function runs(home: string): boolean {
  return ifPossible(() => isFree(pathsIn(home).lock)) === false;
}

/** True if a daemon runs that no service manager started. */
export function runsByHand(home: string): boolean {
  return runs(home) && !readDaemonRecord(home)?.service;
}

/** Paths in a folder, sorted; empty if it cannot be read. */
function pathsBelow(folder: string): string[] {
  return listed(folder).map((name) => `${folder}/${name}`);
}

/** Names in a folder, sorted; empty if it cannot be read. */
function listed(folder: string): string[] {
  return ifPossible(() => namesIn(folder).sort()) ?? [];
}

/** Checks the folder itself. */
export function checkHome(home: string): Finding {
  const check = "home";
  try {
    checkSocketLength(pathsIn(home).socket);
    const info = Deno.lstatSync(home);
    if (info.isSymlink || !info.isDirectory) {
      return wrong(
        check,
        `${home} is not a folder`,
        `mv ${shellWord(home)} ${shellWord(`${home}.old`)}`,
      );
    }
    if (info.uid !== Deno.uid()) {
      const fix = `sudo chown -R ${Deno.uid()} ${shellWord(home)}`;
      return wrong(check, `${home} belongs to user ${info.uid}`, fix);
    }
    checkWay(home);
    return (info.mode! & 0o077) !== 0
      ? wrong(check, `others may look into ${home}`, `chmod 700 ${shellWord(home)}`)
      : ok(check, `${home} is private`);
  } catch (error) {
    if (error instanceof ProcsupError) return wrong(check, messageOf(error));
    return error instanceof Deno.errors.NotFound
      ? ok(check, `${home} does not exist yet; the first start creates it`)
      : wrong(check, `${home} cannot be reached: ${reasonOf(error)}`);
  }
}

/** Checks the files inside: `sudo procsup …` leaves files that the user's daemon cannot write. */
export function checkOwners(home: string): Finding[] {
  const { records, run, apps, token, tokens } = pathsIn(home);
  const apart = pathsBelow(apps);
  const folders = [home, `${home}/state`, records, run, apps, ...apart];
  const foreign = folders.flatMap(pathsBelow)
    .filter((path) => (statOf(path)?.uid ?? Deno.uid()) !== Deno.uid());
  const owners = foreign.length === 0 ? [] : [wrong(
    "owner",
    `${foreign.length} files in it belong to another user: ${foreign.slice(0, 3).join(", ")}`,
    `sudo chown -R ${Deno.uid()} ${shellWord(home)}`,
  )];
  const open = [token, tokens].filter((path) => ((statOf(path)?.mode ?? 0) & 0o077) !== 0);
  return [
    ...owners,
    ...open.map((path) =>
      wrong("secrets", `others may read ${path}`, `chmod 600 ${shellWord(path)}`)
    ),
  ];
}

/** The message of a failed system call, without its arguments. */
export function reasonOf(error: unknown): string {
  return messageOf(error).split(":")[0]!;
}

function statOf(path: string): Deno.FileInfo | undefined {
  return ifPossible(() => Deno.lstatSync(path));
}

/** Checks that the state files of a daemon can be read. */
export function checkState(home: string): Finding[] {
  const written = readDaemonRecord(home);
  if (written !== undefined && written.state > STATE_FORMAT) {
    const says = `version ${written.version} wrote it, which is newer than this program`;
    return [wrong("state", says, "install procsup again")];
  }
  const { records, saved, cron, webhooks, tokens } = pathsIn(home);
  const files = [dirname(saved), records, cron, webhooks]
    .flatMap(pathsBelow)
    .concat(pathsBelow(home).filter((path) => path.startsWith(tokens)));
  const aside = files.filter(isSetAside);
  const findings = files.filter((path) => /\.json(\.copy)?$/.test(path)).flatMap(damageOf);
  if (aside.length + findings.length === 0) return [ok("state", "all of it can be read")];
  return [
    ...findings,
    ...aside.map((path) =>
      warning("state", `${path} was damaged, and was set aside`, `rm ${shellWord(path)}`)
    ),
  ];
}

/** The findings for a state file. The next daemon sets a damaged file aside. */
function damageOf(path: string): Finding[] {
  try {
    const text = Deno.readTextFileSync(path);
    for (const line of text.trimEnd().split("\n")) unsealed(line);
    return [];
  } catch (error) {
    // Removed meanwhile by a running daemon.
    if (error instanceof Deno.errors.NotFound) return [];
    const why = "code" in (error as Error)
      ? `cannot be read: ${reasonOf(error)}`
      : "is damaged, and will be set aside";
    return [warning("state", `${path} ${why}`, `less ${shellWord(path)}`)];
  }
}

/** Bytes. Below FULL the next rotation or save may fail; a busy app uses NEARLY_FULL in an hour. */
const FULL = 50e6;
const NEARLY_FULL = 500e6;

/** Checks the file system of a home. */
export async function checkDisk(home: string): Promise<Finding[]> {
  const space = await diskOf(existing(home));
  return space.total === 0 ? [] : [judgeSpace(home, space, largestLogs(home))];
}

/** The finding for the space left; `largest` is the app with the largest logs. */
export function judgeSpace(
  home: string,
  { available }: DiskSpace,
  largest?: { name: string; bytes: number },
): Finding {
  const left = `${humanBytes(available)} are left`;
  if (available >= NEARLY_FULL) return ok("disk", left);
  const logs = largest && `; the logs of ${largest.name} take ${humanBytes(largest.bytes)}`;
  const fix = largest && `procsup flush${homeFlag(home)} ${shellWord(largest.name)}`;
  return available < FULL
    ? wrong("disk", `only ${left}${logs ?? ""}`, fix)
    : warning("disk", `${left}${logs ?? ""}`, fix);
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
  const pid = runs(home) ? readDaemonRecord(home)?.pid : undefined;
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
    ...checkIsolation(),
  ];
}

/** Reports the isolation that apps can have. */
function checkIsolation(): Finding[] {
  const all = { noNewPrivs: true, privateTmp: true, readOnly: true, writable: [] };
  const problem = isolationProblem(all);
  return [ok("isolation", problem ?? "apps can have no_new_privs, private_tmp and read_only")];
}

/** Reports the cgroup limits that apps can have. */
function checkGroups(pid: number | "self"): Finding[] {
  const controllers = controllersOf(pid);
  if (controllers === undefined) return [];
  const missing = ["memory", "cpu", "pids", "io"].filter((name) => !controllers.includes(name));
  if (missing.length === 0) {
    return [ok("cgroup", "apps can have limits of memory, cpu, pids and io")];
  }
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
