/** Secrets of an app: fetched at its start, and kept only in its environment. */

import { messageOf, refuseStart } from "../../model/errors.ts";
import type { ProcessConfig, SecretSource } from "../../model/process_config.ts";
import { resolve } from "@std/path";
import { readForeignFile } from "../files/foreign_file.ts";
import { isLack } from "../lack.ts";
import { printedSecret } from "./shell.ts";
import { orAborted } from "../concurrency.ts";
import {
  appUser,
  type Inheriting,
  startingEnvironment,
  type UserConfig,
} from "../users/app_user.ts";

/** How long a command may take to print a secret. */
const COMMAND_TIMEOUT_MS = 10_000;

/** How long a printed secret serves starts: a check and its instances run the command once. */
const FRESH_MS = 30_000;

/** `fresh` values for a start; `known` ones of the last start for hooks and checks. */
export type SecretAge = "fresh" | "known";

export type Secretive = UserConfig & Inheriting & Pick<ProcessConfig, "cwd" | "secrets">;
type Variables = Readonly<Record<string, string>>;

interface Running {
  readonly value: Promise<string>;
  /** Ends the command. */
  readonly abort: AbortController;
  waiting: number;
}

export class Secrets {
  /** The variables that apps inherit. */
  readonly #inherited: Variables;
  /** What commands printed, and when, in steady milliseconds. In memory only. */
  readonly #printed = new Map<string, { readonly value: string; readonly at: number }>();
  readonly #running = new Map<string, Running>();

  constructor(inherited: Variables) {
    this.#inherited = inherited;
  }

  /**
   * Runs the commands that print secrets, each once for all callers that wait at the same time;
   * undefined when there is nothing to wait for. `signal` ends the wait, and the command when no other
   * caller waits for it. Rejects with `invalid_config` naming the secret, never its value.
   */
  fetch(
    config: Secretive,
    age: SecretAge,
    signal?: AbortSignal,
  ): Promise<unknown> | undefined {
    const missing = Object.entries(config.secrets).filter(([, { command }]) =>
      command !== undefined && !this.#isGood(keyOf(command, config), age)
    );
    if (missing.length === 0) return undefined;
    return Promise.all(
      missing.map(([name, { command }]) => this.#fetchOne(name, command!, config, signal)),
    );
  }

  #isGood(key: string, age: SecretAge): boolean {
    const last = this.#printed.get(key);
    return last !== undefined && (age === "known" || performance.now() - last.at < FRESH_MS);
  }

  async #fetchOne(
    name: string,
    command: string,
    config: Secretive,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    if (signal?.aborted) return;
    const key = keyOf(command, config);
    const run = this.#running.get(key) ?? this.#begin(key, command, config);
    run.waiting++;
    const leave = () => {
      if (--run.waiting > 0) return;
      // Later callers need another command, since this one is aborted.
      if (this.#running.get(key) === run) this.#running.delete(key);
      run.abort.abort();
    };
    signal?.addEventListener("abort", leave);
    try {
      const value = await (signal === undefined ? run.value : orAborted(run.value, signal));
      if (value !== undefined) this.#printed.set(key, { value, at: performance.now() });
    } catch (error) {
      this.#printed.delete(key);
      if (isLack(error)) throw error;
      refuseStart(config.name, `secret "${name}": ${messageOf(error)}`);
    } finally {
      signal?.removeEventListener("abort", leave);
    }
  }

  #begin(key: string, command: string, config: Secretive): Running {
    const abort = new AbortController();
    const value = ask(command, config, this.#inherited, abort.signal);
    const run: Running = { value, abort, waiting: 0 };
    this.#running.set(key, run);
    const ended = () => {
      if (this.#running.get(key) === run) this.#running.delete(key);
    };
    value.then(ended, ended);
    return run;
  }

  /**
   * The variables of a configuration's secrets. Its commands must have been run by `fetch()`. Throws
   * `invalid_config` naming the secret and its source, never its value.
   */
  variables(config: Secretive): Record<string, string> {
    const entries = Object.entries(config.secrets)
      .map(([name, source]) => [name, this.#value(name, source, config)]);
    return Object.fromEntries(entries);
  }

  /** Removes the values of secrets from a text of hooks. */
  hide(text: string, config: Secretive): string {
    try {
      const values = Object.values(this.variables(config));
      // The longest first: one may be a part of another.
      return values.filter((value) => value !== "").sort((a, b) => b.length - a.length)
        .reduce((left, value) => left.replaceAll(value, "***"), text);
    } catch {
      // The values are unknown now. Keep only the first part, which says what happened.
      return text.split(": ")[0]!;
    }
  }

  #value(name: string, { env, file, command }: SecretSource, config: Secretive): string {
    if (file !== undefined) return fileSecret(name, file, config);
    const problem = problemOf(name, config);
    if (env !== undefined) {
      const whose = config.shellEnv === undefined ? "the daemon's environment" : "its shell_env";
      return (config.shellEnv ?? this.#inherited)[env] ??
        problem(`the variable "${env}" is not set in ${whose}`);
    }
    return this.#printed.get(keyOf(command!, config))?.value ??
      problem("its command was not run yet");
  }
}

function problemOf(name: string, config: Secretive): (why: string) => never {
  return (why) => refuseStart(config.name, `secret "${name}": ${why}`);
}

/** Runs a command as the app's user, with the variables that the app inherits. */
async function ask(
  command: string,
  config: Secretive,
  inherited: Variables,
  signal: AbortSignal,
): Promise<string> {
  const user = appUser(config);
  const env = user === undefined
    ? config.shellEnv ?? inherited
    : startingEnvironment(inherited, config, user);
  const { cwd } = config;
  const timeoutMs = COMMAND_TIMEOUT_MS;
  const value = await printedSecret({ command, cwd, env, user, timeoutMs, signal });
  return text(value, (why) => {
    throw new Error(why);
  });
}

/** Everything that a command's output may depend on: another environment may mean another secret. */
function keyOf(command: string, { cwd, uid, gid, inheritEnv, shellEnv }: Secretive): string {
  return JSON.stringify([command, cwd, uid, gid, inheritEnv, shellEnv]);
}

/** A secret from a file. Throws `invalid_config` naming the secret and the file, never its value. */
export function fileSecret(name: string, file: string, config: Secretive): string {
  const problem = problemOf(name, config);
  const path = resolve(config.cwd, file);
  let raw: string;
  try {
    raw = readForeignFile(path, { as: appUser(config) });
  } catch (error) {
    return problem(`the file "${path}" cannot be read: ${messageOf(error).split(":")[0]}`);
  }
  return text(raw, problem);
}

function text(raw: string, problem: (why: string) => never): string {
  const value = raw.replace(/\r?\n$/, "");
  return value.includes("\0") ? problem("it holds a NUL") : value;
}
