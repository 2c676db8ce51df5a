/** Secrets of an app: fetched when it is started, and kept nowhere but in its environment. */

import { messageOf } from "../model/errors.ts";
import type { ProcessConfig, SecretSource } from "../model/process_config.ts";
import { refuse } from "../runtimes/refusal.ts";
import { runShellSync } from "../platform/shell_sync.ts";

/** How long a command may take to print a secret. */
const COMMAND_TIMEOUT_MS = 10_000;

/** How long what a command printed is good for: hooks and checks of one start do not run it anew. */
const FRESH_MS = 30_000;

interface Printed {
  readonly value: string;
  readonly until: number;
}

const printed = new Map<string, Printed>();

/**
 * The variables that a configuration's secrets are. Throws `invalid_config` naming the secret and
 * where it should be, never what is there.
 */
export function secretVariables(
  config: Pick<ProcessConfig, "name" | "cwd" | "secrets">,
  inherited: Readonly<Record<string, string>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(config.secrets).map(([name, source]) => {
      const problem = (why: string) => refuse(config.name, `secret "${name}": ${why}`);
      return [name, secretValue(source, config.cwd, inherited, problem)];
    }),
  );
}

function secretValue(
  { env, file, command }: SecretSource,
  cwd: string,
  inherited: Readonly<Record<string, string>>,
  problem: (why: string) => never,
): string {
  if (env !== undefined) {
    return inherited[env] ??
      problem(`the variable "${env}" is not set in the daemon's environment`);
  }
  if (file !== undefined) {
    return fileSecret(file.startsWith("/") ? file : `${cwd}/${file}`, problem);
  }
  return commandSecret(command!, cwd, inherited, problem);
}

function fileSecret(path: string, problem: (why: string) => never): string {
  try {
    return text(Deno.readTextFileSync(path), problem);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound) && !isSystemError(error)) throw error;
    return problem(`the file "${path}" cannot be read: ${messageOf(error).split(":")[0]}`);
  }
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && "code" in error && typeof error.code === "string" &&
    !("hint" in error);
}

/** What it printed is kept for a moment, in memory only: a command may be slow, or ask somebody. */
function commandSecret(
  command: string,
  cwd: string,
  inherited: Readonly<Record<string, string>>,
  problem: (why: string) => never,
): string {
  const key = JSON.stringify([command, cwd]);
  const known = printed.get(key);
  if (known !== undefined && known.until > performance.now()) return known.value;
  printed.delete(key);
  // Neither what it printed nor what it complained about is told: both may hold the secret.
  const result = runShellSync(command, { cwd, env: inherited, timeoutMs: COMMAND_TIMEOUT_MS });
  if (result.code !== 0) return problem(`its command ended with exit code ${result.code}`);
  const value = text(result.stdout, problem);
  printed.set(key, { value, until: performance.now() + FRESH_MS });
  return value;
}

function text(raw: string, problem: (why: string) => never): string {
  const value = raw.replace(/\r?\n$/, "");
  return value.includes("\0") ? problem("it holds a NUL") : value;
}
