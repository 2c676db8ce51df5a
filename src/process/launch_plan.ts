/** Everything that a launch needs, checked before anything is done. */

import { basename } from "../npm/path.js";
import type { LaunchSetup } from "../platform/launcher.ts";
import { commandLine } from "../runtimes/command_line.ts";
import { appUser } from "./app_user.ts";
import { appEnvironment } from "./environment.ts";
import { launchSetup } from "./launch_setup.ts";
import type { ProcessHandle } from "./process_handle.ts";
import type { SecretCommands } from "./secrets.ts";

export type LaunchedProcess = Pick<ProcessHandle, "id" | "name" | "instanceIndex" | "config">;

interface LaunchPlan {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Name of the runtime; `auto` for a plain program. */
  readonly runtime: string;
  /** Settings of the app's process. */
  readonly setup: LaunchSetup;
}

/**
 * The command line and environment of a process. Throws `invalid_config` naming what is missing, so
 * that a process that cannot be started is refused before it is registered. Secrets that commands
 * print must have been fetched, or are left out.
 */
export function launchPlan(
  process: LaunchedProcess,
  inherited: Readonly<Record<string, string>>,
  secrets: SecretCommands = "fetched",
): LaunchPlan {
  const env = appEnvironment(inherited, process, secrets);
  const user = appUser(process.config);
  const { argv, runtime } = commandLine(process.config, env.PATH ?? "", user);
  // A user's own deno command line may lack the permissions that the preload needs.
  const program = runtime === "auto" ? basename(argv[0]!).replace(/^deno$/, "") : runtime;
  const setup = launchSetup(process.config, program);
  if (process.config.tty) env.TERM ??= "xterm-256color";
  return { argv, env, cwd: process.config.cwd, runtime, setup };
}
