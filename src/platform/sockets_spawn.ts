/**
 * Starts a program that inherits descriptors. `Deno.Command` passes only the standard ones, so
 * node:child_process is used. Loading it at the first use takes 10 to 30 ms.
 */

import { spawnInOwnSession } from "./own_session.ts";

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

interface NodeProcess {
  getBuiltinModule(name: "node:child_process"): ChildProcessModule;
}

/** Starts a program in a session of its own. Throws when the system refuses. */
export function spawnWrapper(spec: SpawnSpec): Spawned {
  if (spec.inherit.length > 0) return spawnInheriting(spec);
  const { program, args, cwd, env } = spec;
  const io = { stdin: "null", stdout: "null", stderr: "null" } as const;
  const child = spawnInOwnSession(program, { args: [...args], cwd, env, clearEnv: true, ...io });
  // A worker, or a program under --watch, kills the children that it waits for when it ends.
  child.unref();
  return child;
}

/**
 * Starts a program in its own session, without standard streams. Throws when the system refuses.
 */
function spawnInheriting(spec: SpawnSpec): Spawned {
  const { process } = globalThis as unknown as { process: NodeProcess };
  const child = process.getBuiltinModule("node:child_process").spawn(spec.program, spec.args, {
    cwd: spec.cwd,
    env: spec.env,
    detached: true,
    stdio: ["ignore", "ignore", "ignore", ...spec.inherit],
  });
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
    const io = { stdin: "null", stdout: "null", stderr: "null" } as const;
    new Deno.Command(program, { args: [option!, ":", ...args], cwd, env, clearEnv: true, ...io })
      .outputSync();
  } catch (error) {
    return error;
  }
  return Object.assign(new Error("there were too many processes"), { code: "EAGAIN" });
}
