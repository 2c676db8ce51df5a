/** Runs the hooks of a process, and the command of its watch. */

import { messageOf, ProcsupError } from "../model/errors.ts";
import { baseName } from "../model/name.ts";
import { counted } from "../model/transition_steps.ts";
import type { HookConfig } from "../model/process_config.ts";
import type { Snapshot } from "../model/process_state.ts";
import { snakeCase } from "../model/key_table.ts";
import type { OtherUser } from "../platform/users/as_user.ts";
import { sleep } from "../platform/clock.ts";
import { isLack } from "../platform/lack.ts";
import { runShell, type ShellResult } from "../platform/launch/shell.ts";
import { type CommandName, endOf, type HookRun } from "./journal.ts";

/** What a hook needs to know of its process. */
export interface HookContext {
  /** UUID. */
  readonly id: string;
  readonly name: string;
  readonly cwd: string;
  /** The supervisor's home, so that a hook's own commands reach it. */
  readonly home: string;
  /** Fetches missing secrets of the environment; undefined if none is missing. */
  readonly prepare?: () => Promise<unknown> | undefined;
  /** The environment of the app. Throws if one of its files cannot be read. */
  readonly env: () => Readonly<Record<string, string>>;
  /** The user of the app, if it is not ours. Throws if the user does not exist any more. */
  readonly user: () => OtherUser | undefined;
  /** The environment of the supervisor, which the user of the app cannot change. */
  readonly inherited: Readonly<Record<string, string>>;
  readonly snapshot: Snapshot;
  /** A text without the values of secrets. */
  readonly hide?: (text: string) => string;
  /** Called after every run. */
  readonly ran?: (run: HookRun) => void;
}

function titleOf(hook: CommandName): string {
  return hook === "watch" ? "watch command" : `${snakeCase(hook)} hook`;
}

/** Options of one run of a hook. */
interface HookGiven {
  /** Cuts it short. */
  readonly signal?: AbortSignal | undefined;
  /** A line for its standard input. */
  readonly input?: string | undefined;
}

/** First wait before a hook that the machine refused is retried; each wait is twice the last. */
const RETRY_MS = 250;

/** Runs one hook. Resolves with what went wrong, without values of secrets, or undefined. */
export async function runHook(
  hook: CommandName,
  config: HookConfig,
  owner: HookContext,
  given: HookGiven = {},
): Promise<string | undefined> {
  if (config.command === "") return undefined;
  const { hide = (text) => text, ran = () => {} } = owner;
  const { signal } = given;
  const [at, startedAt] = [Date.now(), performance.now()];
  const over = (exitCode: number | null, timedOut: boolean, output: string) =>
    ran({ hook, at, durationMs: performance.now() - startedAt, exitCode, timedOut, output });
  for (let waitMs = RETRY_MS;; waitMs *= 2) {
    try {
      const result = await runOnce(hook, config, owner, given);
      // A note with more of it would push other events out of their file.
      const output = endOf(hide(result.output.trimEnd()));
      over(result.code, result.ended === "timeout", output);
      return hookProblem(hook, config, { ...result, output });
    } catch (error) {
      // A lack of descriptors may soon be over. For pre_start, the whole start is retried.
      const left = startedAt + config.timeoutMs - performance.now();
      if (isLack(error) && hook !== "preStart" && waitMs < left) {
        await sleep(waitMs, signal);
        if (signal?.aborted) return undefined;
        continue;
      }
      const why = hide(messageOf(error));
      over(null, false, `cannot run: ${why}`);
      const problem = `${titleOf(hook)} cannot run: ${why}`;
      if (hook === "preStart" && isLack(error)) {
        throw new ProcsupError("start_failed", problem, { cause: error });
      }
      return problem;
    }
  }
}

/** Throws when the hook cannot be run. */
async function runOnce(
  hook: CommandName,
  config: HookConfig,
  owner: HookContext,
  given: HookGiven,
): Promise<ShellResult> {
  const prepared = owner.prepare?.();
  if (prepared !== undefined) await prepared;
  const user = owner.user();
  return await runShell({
    command: config.command,
    cwd: owner.cwd,
    ...config.runAsRoot && user !== undefined
      ? { env: hookEnvironment(hook, owner, owner.inherited) }
      : { env: hookEnvironment(hook, owner), user },
    timeoutMs: config.timeoutMs,
    capture: true,
    // A check that its daemon did not survive is of no use.
    outlives: hook !== "preHealthCheck" && hook !== "postHealthCheck",
    ...given,
  });
}

/** The environment with the variables that describe the process to the hook. */
export function hookEnvironment(
  hook: CommandName,
  owner: HookContext,
  env: Readonly<Record<string, string>> = owner.env(),
): Record<string, string> {
  // Counts an automatic restart even before its launch.
  const { pid, restarts, lastExit } = counted(owner.snapshot);
  return {
    ...env,
    PROCSUP_HOME: owner.home,
    PROCSUP_EVENT: snakeCase(hook),
    PROCSUP_ID: owner.id,
    PROCSUP_NAME: owner.name,
    PROCSUP_BASE_NAME: baseName(owner.name),
    PROCSUP_PID: String(pid),
    PROCSUP_RESTARTS: String(restarts),
    PROCSUP_EXIT_CODE: String(lastExit?.code ?? ""),
    PROCSUP_SIGNAL: lastExit?.signal ?? "",
  };
}

function hookProblem(
  hook: CommandName,
  config: HookConfig,
  result: ShellResult,
): string | undefined {
  if (result.code === 0 || result.ended === "aborted") return undefined;
  const timedOut = result.ended === "timeout";
  const failure = hookFailure({ hook, exitCode: result.code, timedOut }, config);
  return result.output === "" ? failure : `${failure}: ${result.output}`;
}

/** How a hook failed, without its output. */
export function hookFailure(
  { hook, exitCode, timedOut }: Pick<HookRun, "hook" | "exitCode" | "timedOut">,
  { timeoutMs }: HookConfig,
): string {
  const how = timedOut
    ? `timed out after ${timeoutMs} ms and was killed`
    : exitCode === null
    ? "cannot run"
    : `failed with exit code ${exitCode}`;
  return `${titleOf(hook)} ${how}`;
}
