/** Limits that a shell can set, and whether this process may set them. */

import type { LimitsConfig } from "../../model/process_config.ts";
import { readFileIfAny } from "../files/atomic_file.ts";
import { systemProgram } from "../users/as_user.ts";
import { isLinux, outputOf } from "../os.ts";

interface Row {
  readonly key: keyof LimitsConfig;
  /** As users write it. */
  readonly name: string;
  /** Its line in /proc/self/limits. */
  readonly proc: string;
  /** The shell's letter, and the unit in bytes. */
  readonly letter: string;
  readonly unit: number;
}

const ROWS = [
  { key: "nofile", name: "nofile", proc: "Max open files", letter: "n", unit: 1 },
  { key: "nproc", name: "nproc", proc: "Max processes", letter: "u", unit: 1 },
  { key: "coreBytes", name: "core", proc: "Max core file size", letter: "c", unit: 512 },
  {
    key: "addressSpaceBytes",
    name: "address_space",
    proc: "Max address space",
    letter: "v",
    unit: 1024,
  },
  { key: "fileSizeBytes", name: "file_size", proc: "Max file size", letter: "f", unit: 512 },
] as const satisfies readonly Row[];

/**
 * Shell lines that set the limits, soft and hard, rounded up to the unit of the shell. A limit that
 * cannot be set ends the launch with status 126.
 */
export function ulimitLines(limits: LimitsConfig, openFiles = startersOpenFiles()): string[] {
  const soft = limits.nofile === undefined ? softLines(openFiles) : [];
  return soft.concat(ROWS.flatMap(({ key, letter, unit }) => {
    const value = limits[key];
    if (value === undefined) return [];
    const amount = Math.ceil(value / unit);
    // bash and dash have different letters for the number of processes.
    const first = letter === "u"
      ? `ulimit -u ${amount} 2>/dev/null || ulimit -p`
      : `ulimit -${letter}`;
    return [`${first} ${amount} || exit 126`];
  }));
}

/** Shell lines that set the soft limit, which the runtime has raised, back. */
export function softLines(openFiles = startersOpenFiles()): string[] {
  return openFiles === undefined ? [] : [`ulimit -S -n ${openFiles} 2>/dev/null || :`];
}

/** Passes on to the daemon how many descriptors the shell of a command may have open. */
export const OPEN_FILES = "PROCSUP_OPEN_FILES";

/** For the environment of a daemon that this command starts. */
export function openFilesVariable(): Record<string, string> {
  const limit = startersOpenFiles();
  return limit === undefined ? {} : { [OPEN_FILES]: String(limit) };
}

/** The soft limit that service managers and the kernel give to a program. */
const USUAL_OPEN_FILES = 1024;

let starters: number | undefined;

/**
 * How many descriptors the shell or service that started this program may have open; undefined if it
 * cannot be told. The runtime raises our own limit before any code of ours is run.
 */
export function startersOpenFiles(): number | undefined {
  return starters ??= passedOpenFiles() ?? limitOfParent();
}

function passedOpenFiles(): number | undefined {
  const value = Deno.env.get(OPEN_FILES) ?? "";
  return /^\d+$/.test(value) ? Number(value) : undefined;
}

function limitOfParent(): number | undefined {
  // A program without a parent that can be seen is the first one of a container.
  if (!isLinux || Deno.ppid === 0) return undefined;
  const isSystemd = readFileIfAny(`/proc/${Deno.ppid}/comm`)?.trim() === "systemd";
  const limit = isSystemd ? USUAL_OPEN_FILES : limitOf(Deno.ppid, "Max open files", SOFT);
  return Math.min(limit, openFilesLimit());
}

/** Why limits cannot be set, as a clause such as `limits.nofile 5 is above …`; else undefined. */
export function ulimitProblem(limits: LimitsConfig, isRoot: boolean): string | undefined {
  for (const { key, name, proc } of ROWS) {
    const value = limits[key];
    const most = value === undefined ? Infinity : highest(key, proc, isRoot);
    if (value !== undefined && value > most) {
      return `limits.${name} ${value} is above ${most}, the most that can be set here`;
    }
  }
  return undefined;
}

/** Root may raise any limit, but the kernel limits open files. */
function highest(key: keyof LimitsConfig, proc: string, isRoot: boolean): number {
  if (!isRoot) return ownLimit(proc, HARD);
  if (key !== "nofile") return Infinity;
  return Number(readFileIfAny("/proc/sys/fs/nr_open") ?? Infinity);
}

/** How many descriptors this process may have open. */
export function openFilesLimit(): number {
  return ownLimit("Max open files", SOFT);
}

/** Columns of /proc/self/limits. */
const [SOFT, HARD] = [0, 1];

/** A limit of this process; Infinity where it cannot be read. */
function ownLimit(proc: string, column: number): number {
  return limitOf("self", proc, column);
}

function limitOf(pid: number | "self", proc: string, column: number): number {
  const line = (readFileIfAny(`/proc/${pid}/limits`) ?? "").split("\n")
    .find((text) => text.startsWith(proc));
  const limit = line?.slice(proc.length).trim().split(/\s+/)[column];
  return limit === undefined || limit === "unlimited" ? Infinity : Number(limit);
}

let own: string | undefined;

/** Niceness of this process, which its children inherit. Read once; 0 while it cannot be read. */
export function ownNiceness(): number {
  const program = systemProgram("nice");
  return program === undefined ? 0 : Number(own ??= outputOf(program)) || 0;
}
