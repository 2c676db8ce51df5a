/** Which system this is. Only files of this folder may depend on it. */

import { ifPossible } from "../model/errors.ts";

/** Whether there is a /proc to read. */
export const isLinux: boolean = globalThis.Deno?.build.os === "linux";

/** Where a user's applications keep their settings. */
export function configFolder(home: string): string {
  if (Deno.build.os === "darwin") return `${home}/Library/Application Support`;
  return Deno.env.get("XDG_CONFIG_HOME") || `${home}/.config`;
}

/** Identity of the current boot: pids of another boot mean nothing. */
export function bootId(): string {
  if (isLinux) return Deno.readTextFileSync("/proc/sys/kernel/random/boot_id").trim();
  const { stdout } = new Deno.Command("sysctl", { args: ["-n", "kern.boottime"] }).outputSync();
  return new TextDecoder().decode(stdout).trim();
}

/** What a program prints; undefined if it cannot run. */
export function outputOf(
  program: string,
  args: string[] = [],
  options: Deno.CommandOptions = {},
): string | undefined {
  const given: Deno.CommandOptions = { args, stdin: "null", stderr: "null", ...options };
  return ifPossible(() => {
    return new TextDecoder().decode(new Deno.Command(program, given).outputSync().stdout);
  });
}

/** A module of Node.js, loaded at the first use. `T` is the part that is used. */
export function nodeModule<T>(name: string): T {
  const { process } = globalThis as unknown as {
    process: { getBuiltinModule(name: string): unknown };
  };
  return process.getBuiltinModule(name) as T;
}

/** The name of this system, as Rust has it. */
export function systemName(): string {
  return Deno.build.os === "darwin" ? "macos" : Deno.build.os;
}
