/** Secrets of an app: fetched when it is started, and kept nowhere but in its environment. */

import { messageOf } from "../model/errors.ts";
import type { ProcessConfig, SecretSource } from "../model/process_config.ts";
import { refuse } from "../runtimes/refusal.ts";
import { runShellSync } from "../platform/shell_sync.ts";

/** How long a command may take to print a secret. */
const COMMAND_TIMEOUT_MS = 10_000;

/** How long what a command printed is good for a start: its check and its instances do not run it anew. */
const FRESH_MS = 30_000;

/** Values for a start, or, for hooks and checks, as they were at the last start. */
export type SecretAge = "fresh" | "known";

/** What commands printed, and when, in steady milliseconds. In memory only. */
const printed = new Map<string, { readonly value: string; readonly at: number }>();

/**
 * The variables that a configuration's secrets are. Throws `invalid_config` naming the secret and
 * where it should be, never what is there.
 */
export function secretVariables(
  config: Pick<ProcessConfig, "name" | "cwd" | "secrets">,
  inherited: Readonly<Record<string, string>>,
  age: SecretAge,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(config.secrets).map(([name, source]) => {
      const problem = (why: string) => refuse(config.name, `secret "${name}": ${why}`);
      return [name, secretValue(source, { cwd: config.cwd, inherited, age, problem })];
    }),
  );
}

/** A text of hooks with the values of secrets taken out of it. */
export function withoutSecrets(
  text: string,
  config: Pick<ProcessConfig, "name" | "cwd" | "secrets">,
  inherited: Readonly<Record<string, string>>,
): string {
  try {
    const values = Object.values(secretVariables(config, inherited, "known"));
    return values.filter((value) => value !== "")
      .reduce((left, value) => left.replaceAll(value, "***"), text);
  } catch {
    // What is a secret cannot be told any more: the first line says what happened, the rest goes.
    return text.split(": ")[0]!;
  }
}

interface Asker {
  readonly cwd: string;
  readonly inherited: Readonly<Record<string, string>>;
  readonly age: SecretAge;
  readonly problem: (why: string) => never;
}

function secretValue({ env, file, command }: SecretSource, asker: Asker): string {
  const { cwd, inherited, problem } = asker;
  if (env !== undefined) {
    return inherited[env] ??
      problem(`the variable "${env}" is not set in the daemon's environment`);
  }
  if (file !== undefined) {
    return fileSecret(file.startsWith("/") ? file : `${cwd}/${file}`, problem);
  }
  return commandSecret(command!, asker);
}

function fileSecret(path: string, problem: (why: string) => never): string {
  let raw: string;
  try {
    raw = Deno.readTextFileSync(path);
  } catch (error) {
    return problem(`the file "${path}" cannot be read: ${messageOf(error).split(":")[0]}`);
  }
  return text(raw, problem);
}

/** A command may be slow, or ask somebody: it is run once for a start. */
function commandSecret(command: string, { cwd, inherited, age, problem }: Asker): string {
  const key = JSON.stringify([command, cwd]);
  const last = printed.get(key);
  if (last !== undefined && (age === "known" || performance.now() - last.at < FRESH_MS)) {
    return last.value;
  }
  printed.delete(key);
  // Neither what it printed nor what it complained about is told: both may hold the secret.
  const result = runShellSync(command, { cwd, env: inherited, timeoutMs: COMMAND_TIMEOUT_MS });
  if (result.code !== 0) return problem(`its command ended with exit code ${result.code}`);
  const value = text(result.stdout, problem);
  printed.set(key, { value, at: performance.now() });
  return value;
}

function text(raw: string, problem: (why: string) => never): string {
  const value = raw.replace(/\r?\n$/, "");
  return value.includes("\0") ? problem("it holds a NUL") : value;
}
