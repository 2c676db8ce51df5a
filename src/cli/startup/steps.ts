/** Runs the commands around a unit. */

import { systemdRuns } from "../../platform/service_manager.ts";
import type { Output } from "../output.ts";
import type { Step } from "./unit.ts";

/**
 * Runs the steps in order, up to one that fails and matters; whether all went well. Where systemd lies
 * on the disk only, as in an image that is being built, what needs a running one is left out.
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

/** Runs a command and returns true if it succeeded. Shows its errors, and on request its output. */
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
