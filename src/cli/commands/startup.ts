/** `procsup startup`: starts the daemon at boot. Shows the steps and asks, unless `-y` is given. */

import { ProcsupError } from "../../model/errors.ts";
import { readFileIfAny, removeFile } from "../../platform/atomic_file.ts";
import { serviceManager } from "../../platform/service_manager.ts";
import { confirmed } from "../ask.ts";
import type { CommandContext } from "../command.ts";
import { printData } from "../print_data.ts";
import { install, refuseUnasked } from "../startup/install.ts";
import { runSteps, succeeds } from "../startup/steps.ts";
import { sameUnit, type Unit, unitHere } from "../startup/unit.ts";
import { verbIn } from "../unknown_word.ts";

/** Shows, installs or removes the unit, or prints its status. */
export async function startup(context: CommandContext): Promise<number> {
  const [verb] = context.positionals;
  const act = verb === undefined ? show : verbIn("startup", { install, uninstall, status }, verb);
  return await act(context, unitOf(context));
}

function unitOf({ flags, home }: CommandContext): Unit {
  const manager = serviceManager();
  if (manager === undefined) {
    throw new ProcsupError("not_found", "No service manager found: systemd, launchd or OpenRC", {
      hint: "Let your own service manager start: procsup daemon",
    });
  }
  const machine = flags.on("system") || (Deno.uid() === 0 && !flags.on("user"));
  return unitHere(manager, machine ? "system" : "user", home);
}

async function show({ output }: CommandContext, { path, text }: Unit): Promise<number> {
  if (await printData(output, { path, text })) return 0;
  output.data(text.trimEnd());
  output.note(`\n${path}; install it with: procsup startup install`);
  return 0;
}

async function uninstall(context: CommandContext, unit: Unit): Promise<number> {
  const { output } = context;
  if (readFileIfAny(unit.path) === undefined) {
    output.done(`Nothing to remove: there is no ${unit.path}`);
    return 0;
  }
  refuseUnasked(context, "removed", "uninstall");
  if (!confirmed(context, `Remove ${unit.path}? The apps keep running, without a daemon.`)) {
    return 1;
  }
  const stopped = await runSteps(output, unit.disable);
  remove(unit.path);
  output.done(`✔ removed ${unit.path}`);
  const reloaded = await runSteps(output, unit.removed);
  output.note("The apps keep running. To adopt them: procsup daemon --detach");
  return stopped && reloaded ? 0 : 1;
}

function remove(path: string): void {
  try {
    removeFile(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.PermissionDenied)) throw error;
    throw new ProcsupError("forbidden", `Not allowed to remove "${path}"`, {
      hint: "sudo procsup startup uninstall",
    });
  }
}

async function status({ output }: CommandContext, unit: Unit): Promise<number> {
  const there = readFileIfAny(unit.path);
  const current = there !== undefined && sameUnit(there, unit.text);
  const running = async (show: boolean) => there !== undefined && await succeeds(unit.status, show);
  if (!output.isForPeople) {
    const seen = { installed: there !== undefined, current, running: await running(false) };
    await printData(output, { path: unit.path, ...seen });
    return seen.running ? 0 : 3;
  }
  if (there === undefined) {
    output.done(`not installed (${unit.path})`);
    return 3;
  }
  output.done(
    `installed (${unit.path}${current ? "" : ", differs from what this version writes"})`,
  );
  if (!current) output.note("  renew it: procsup startup install");
  return await running(true) ? 0 : 3;
}
