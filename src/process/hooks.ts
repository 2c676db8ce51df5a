/** The ten lifecycle hooks (spec 6.2). */

import { baseName } from "../model/name.ts";
import type { HookConfig, HookName } from "../model/config_parts.ts";
import type { Snapshot } from "../model/process_state.ts";
import { snakeCase } from "../model/config_keys.ts";
import { runShell, type ShellResult } from "../platform/shell.ts";

/** The process that hooks are run for. */
export interface HookOwner {
  /** UUID. */
  readonly id: string;
  readonly name: string;
  readonly cwd: string;
  /** The supervisor's home, so that a hook's own commands reach it. */
  readonly home: string;
  /** The app's environment. Throws when a file of it cannot be read any more. */
  readonly env: () => Readonly<Record<string, string>>;
  readonly snapshot: Snapshot;
}

/** Runs one hook. Resolves with what went wrong, or undefined. */
export async function runHook(
  hook: HookName,
  config: HookConfig | undefined,
  owner: HookOwner,
  signal?: AbortSignal,
): Promise<string | undefined> {
  if (config === undefined || config.command === "") return undefined;
  try {
    const result = await runShell({
      command: config.command,
      cwd: owner.cwd,
      env: hookEnvironment(hook, owner),
      timeoutMs: config.timeoutMs,
      capture: true,
      ...(signal === undefined ? {} : { signal }),
    });
    return hookProblem(hook, config, result);
  } catch (error) {
    return `${snakeCase(hook)} hook cannot run: ${(error as Error).message}`;
  }
}

/** What the hook is told about its process, over the app's environment. */
export function hookEnvironment(hook: HookName, owner: HookOwner): Record<string, string> {
  const { pid, restarts, lastExit } = owner.snapshot;
  return {
    ...owner.env(),
    PROCSUP_HOME: owner.home,
    PROCSUP_EVENT: snakeCase(hook),
    PROCSUP_NAME: owner.name,
    PROCSUP_BASE_NAME: baseName(owner.name),
    PROCSUP_ID: owner.id,
    PROCSUP_PID: String(pid),
    PROCSUP_RESTARTS: String(restarts),
    PROCSUP_EXIT_CODE: String(lastExit?.code ?? ""),
    PROCSUP_SIGNAL: lastExit?.signal ?? "",
  };
}

function hookProblem(hook: HookName, config: HookConfig, result: ShellResult): string | undefined {
  if (result.code === 0 || result.ended === "aborted") return undefined;
  const how = result.ended === "timeout"
    ? `timed out after ${config.timeoutMs} ms and was killed`
    : `failed with exit code ${result.code}`;
  const output = result.output.trimEnd();
  return `${snakeCase(hook)} hook ${how}${output === "" ? "" : `: ${output}`}`;
}
