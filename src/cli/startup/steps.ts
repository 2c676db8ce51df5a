/** Runs the commands that enable or disable a unit. */

import { systemdRuns } from "../../platform/service_manager.ts";
import type { Output } from "../output.ts";
import type { Step } from "./unit.ts";

/**
 * Runs the steps in order; stops and returns false when a step without `advice` fails. Skips `live`
 * steps if systemd is installed but not running, as in an image build.
 */
export async function runSteps(output: Output, steps: readonly Step[]): Promise<boolean> {
  for (const { words, live, advice } of steps) {
    const later = live && words[0]!.endsWith("ctl") && !systemdRuns();
    if (later || await succeeds(words)) continue;
    output.note(advice ?? `It failed: ${words.join(" ")}`);
    if (advice === undefined) return false;
  }
  return true;
}

/** Runs a command; returns true on success. Shows its errors, and with `show` its output. */
export async function succeeds(words: readonly string[], show = false): Promise<boolean> {
  const [program, ...args] = words;
  try {
    const stdout = show ? "inherit" : "null";
    return (await new Deno.Command(program!, { args, stdin: "null", stdout, stderr: "inherit" })
      .spawn().status).success;
  } catch {
    return false;
  }
}
