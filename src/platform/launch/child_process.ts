/**
 * Starts programs in a session and process group of their own, without our descriptors.
 *
 * The option `detached` makes the runtime fork, which copies the memory map of this process: with 300
 * MB that takes ten times as long as a start by setsid(1). With setsid, the child has its session only
 * a moment after the start: before that, a signal to its group does not reach it.
 */

import { ifPossible } from "../../model/errors.ts";
import { systemProgram } from "../users/as_user.ts";
import { C, mayCallC, openLibc, openLibrary } from "../libc.ts";
import { isLinux, nodeModule } from "../os.ts";
import { textsOf } from "../scan/process_environment.ts";
import { type ProcessRow, processRow, readProc } from "../scan/process_table.ts";
import { sendSignal } from "../scan/signals.ts";

/** The path of setsid(1), or undefined if the system does not have it. */
function setsidProgram(): string | undefined {
  return isLinux ? systemProgram("setsid") : undefined;
}

/**
 * Whether a process was started by `spawnInOwnSession()` and, in this row, does not have its session
 * yet: its group and session are those of its supervisor.
 */
export function willLead({ pid, pgid }: ProcessRow): boolean {
  const setsid = setsidProgram();
  if (pid === pgid || setsid === undefined) return false;
  if (textsOf(`/proc/${pid}/cmdline`)[0] === setsid) return true;
  // The row may be older than the session.
  const now = processRow(pid);
  return now !== undefined && now.pgid !== pgid;
}

/** Starts a program, by its absolute path. Throws when the system refuses. */
export function spawnInOwnSession(
  program: string,
  { args = [], ...options }: Deno.CommandOptions,
): Deno.ChildProcess {
  const setsid = setsidProgram();
  const command = setsid === undefined
    ? new Deno.Command(program, { ...options, args, detached: true })
    : new Deno.Command(setsid, { ...options, args: [program, ...args] });
  return command.spawn();
}

/** Kills a program started by `spawnInOwnSession()`, with its process group. */
export function killOwnSession(pid: number): void {
  if (sendSignal(-pid, "SIGKILL")) return;
  sendSignal(pid, "SIGKILL");
  // It may have become a leader, and have forked, between the two.
  sendSignal(-pid, "SIGKILL");
}

interface SpawnSpec {
  /** A shell. */
  readonly program: string;
  /** `-c`, a script, and its arguments. */
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Descriptors that become 3, 4, … Standard ones cannot be given: Deno leaves a copy open. */
  readonly inherit: readonly number[];
  /** Whether it reads our own standard input. */
  readonly inheritsStdin?: boolean;
}

/** A started program. It does not keep this process alive, and outlives it. */
export interface Spawned {
  readonly pid: number;
  /** Resolves when it has ended. */
  readonly status: Promise<SpawnStatus>;
}

/** An exit code, or the signal that ended it. */
export interface SpawnStatus {
  readonly code: number | null;
  readonly signal: string | null;
}

/** The used part of node:child_process. */
interface ChildProcess {
  readonly pid?: number;
  on(event: "exit", listener: (code: number | null, signal: string | null) => void): void;
  on(event: "error", listener: (error: Error) => void): void;
  unref(): void;
}

interface ChildProcessModule {
  spawn(program: string, args: readonly string[], options: unknown): ChildProcess;
}

const NO_STREAMS = { stdin: "null", stdout: "null", stderr: "null" } as const;

/** Starts the launch wrapper, without standard streams of ours unless it reads our input. Throws when the system refuses. */
export function spawnWrapper(spec: SpawnSpec): Spawned {
  if (spec.inherit.length > 0) return spawnInheriting(spec);
  const { program, args, cwd, env, inheritsStdin } = spec;
  const options = { args: [...args], cwd, env, clearEnv: true, ...NO_STREAMS };
  const child = spawnInOwnSession(
    program,
    inheritsStdin ? { ...options, stdin: "inherit" } : options,
  );
  // A worker, or a program under --watch, kills the children that it waits for when it ends.
  child.unref();
  return child;
}

/**
 * `Deno.Command` passes only the standard descriptors, so node:child_process is used. Loading it at
 * the first use takes 10 to 30 ms.
 */
function spawnInheriting(spec: SpawnSpec): Spawned {
  const { spawn } = nodeModule<ChildProcessModule>("node:child_process");
  const flags = new Map(spec.inherit.map((fd) => [fd, flagsOf(fd) ?? 0]));
  const child = spawn(spec.program, spec.args, {
    cwd: spec.cwd,
    env: spec.env,
    detached: true,
    stdio: [spec.inheritsStdin ? 0 : "ignore", "ignore", "ignore", ...spec.inherit],
  });
  // It has made them blocking for every process that has them: an instance whose connection another
  // one took would wait in accept() until the next one comes.
  for (const [fd, before] of flags) {
    if (before & O_NONBLOCK) openLibc(FCNTL).fcntl(fd, F_SETFL, before);
  }
  const status = Promise.withResolvers<SpawnStatus>();
  child.on("exit", (code, signal) => status.resolve({ code, signal }));
  // The error comes in the next turn of the loop. The missing pid shows it already.
  child.on("error", () => {});
  if (child.pid === undefined) throw refusalOf(spec);
  child.unref();
  return { pid: child.pid, status: status.promise };
}

/** Why the system refused, found by a start that does nothing: Node reports it in a later turn. */
function refusalOf({ program, args: [option, _script, ...args], cwd, env }: SpawnSpec): unknown {
  try {
    const options = { args: [option!, ":", ...args], cwd, env, clearEnv: true, ...NO_STREAMS };
    new Deno.Command(program, options).outputSync();
  } catch (error) {
    return error;
  }
  return Object.assign(new Error("there were too many processes"), { code: "EAGAIN" });
}

const DESCRIPTORS = isLinux ? "/proc/self/fd" : "/dev/fd";
const O_CLOEXEC = 0o2000000;
const O_NONBLOCK = 0o4000;
const F_SETFL = 4;

/** For Linux alone: arm64 macOS passes variadic arguments in another way. */
const FCNTL = { fcntl: { parameters: ["i32", "i32", "i32"], result: "i32" } } as const;

const IOCTL = { ioctl: { parameters: ["i32", "u64"], result: "i32" } } as const;

/**
 * Sets close-on-exec on all descriptors but the standard ones, so that apps do not inherit them.
 * Deno's own have it, those that a shell left open do not. Does nothing without the permission to
 * call the C library.
 */
export function sealDescriptors(): void {
  const open = unsealed();
  if (open.length === 0 || !mayCallC()) return;
  const library = openLibrary(IOCTL);
  for (const fd of open) library.symbols.ioctl(fd, C.FIOCLEX);
  library.close();
}

function unsealed(): number[] {
  const entries = ifPossible(() => [...Deno.readDirSync(DESCRIPTORS)]) ?? [];
  return entries.map(({ name }) => Number(name)).filter((fd) => fd > 2 && !isSealed(fd));
}

/** False on other systems, where sealing again does no harm. */
function isSealed(fd: number): boolean {
  return ((flagsOf(fd) ?? 0) & O_CLOEXEC) !== 0;
}

/** The flags of a descriptor; undefined on other systems than Linux. */
function flagsOf(fd: number): number | undefined {
  const flags = isLinux ? /^flags:\s*(\d+)/m.exec(readProc(`/proc/self/fdinfo/${fd}`) ?? "") : null;
  return flags === null ? undefined : parseInt(flags[1]!, 8);
}
