/** `procsup startup`: the daemon at boot. Shown first, and written when a person says so, or `-y`. */

import { ProcsupError } from "../../model/errors.ts";
import { readFileIfAny, removeFile } from "../../platform/atomic_file.ts";
import { ownWords } from "../../platform/own_program.ts";
import { dirname } from "../../platform/paths.ts";
import { serviceManager, systemdRuns } from "../../platform/service_manager.ts";
import type { CommandContext } from "../command.ts";
import { confirmed } from "../ask.ts";
import { type Unit, unitFor } from "../startup/units.ts";

/** Shows, installs, removes or looks at the unit. */
export async function run(context: CommandContext): Promise<number> {
  const [verb] = context.positionals;
  const unit = unitOf(context);
  if (verb === undefined) return show(context, unit);
  if (verb === "install") return await install(context, unit);
  if (verb === "uninstall") return await uninstall(context, unit);
  if (verb === "status") return await status(context, unit);
  throw new ProcsupError("bad_request", `Unknown word "${verb}" for startup`, {
    hint: "procsup startup install|uninstall|status",
  });
}

function unitOf({ flags, home }: CommandContext): Unit {
  const manager = serviceManager();
  if (manager === undefined) {
    throw new ProcsupError("not_found", "No service manager found: systemd, launchd or OpenRC", {
      hint: "Have your own start: procsup daemon",
    });
  }
  const root = Deno.uid() === 0;
  const scope = flags.on("system") || (root && !flags.on("user")) ? "system" : "user";
  const userHome = Deno.env.get("HOME") ?? (root ? "/root" : dirname(home));
  return unitFor(manager, { scope, words: ownWords(), home, userHome });
}

function show({ output }: CommandContext, unit: Unit): number {
  output.data(unit.text.trimEnd());
  output.note(`\n${unit.path}; install it with: procsup startup install`);
  return 0;
}

async function install(context: CommandContext, unit: Unit): Promise<number> {
  const { output, flags } = context;
  output.note(`${unit.text}\nThis goes to ${unit.path}, then:`);
  for (const words of unit.enable) output.note(`  ${words.join(" ")}`);
  if (!flags.on("yes") && !Deno.stdin.isTerminal()) {
    throw new ProcsupError("bad_request", "Nothing was written: nobody is there to agree", {
      hint: "procsup startup install --yes",
    });
  }
  if (!confirmed(context, "Write it?")) return 1;
  write(unit);
  output.done(`✔ wrote ${unit.path}`);
  return await runAll(context, unit.enable);
}

function write(unit: Unit): void {
  try {
    Deno.mkdirSync(dirname(unit.path), { recursive: true });
    Deno.writeTextFileSync(unit.path, unit.text, { mode: unit.mode });
  } catch (error) {
    if (!(error instanceof Deno.errors.PermissionDenied)) throw error;
    throw new ProcsupError("forbidden", `Not allowed to write "${unit.path}"`, {
      hint: "sudo procsup startup install, or: procsup startup install --user",
    });
  }
}

async function uninstall(context: CommandContext, unit: Unit): Promise<number> {
  if (readFileIfAny(unit.path) === undefined) {
    context.output.done(`Nothing to remove: there is no ${unit.path}`);
    return 0;
  }
  if (!confirmed(context, `Remove ${unit.path}? The apps run on.`)) return 1;
  const code = await runAll(context, unit.disable);
  removeFile(unit.path);
  context.output.done(`✔ removed ${unit.path}`);
  return code;
}

async function status({ output }: CommandContext, unit: Unit): Promise<number> {
  const there = readFileIfAny(unit.path);
  if (there === undefined) {
    output.done(`not installed (${unit.path})`);
    return 3;
  }
  const same = there === unit.text ? "" : ", not as this version would write it";
  output.done(`installed (${unit.path}${same})`);
  return await succeeds(unit.status, true) ? 0 : 3;
}

/** Where systemd lies on the disk only, as in an image that is being built, it is enabled for later. */
async function runAll({ output }: CommandContext, all: Unit["enable"]): Promise<number> {
  for (const words of all) {
    const later = words[0] === "systemctl" && !systemdRuns();
    if (later && words.includes("daemon-reload")) continue;
    const now = later ? words.filter((word) => word !== "--now") : words;
    if (await succeeds(now, false)) continue;
    output.note(`It failed: ${now.join(" ")}`);
    return 1;
  }
  return 0;
}

async function succeeds([program, ...args]: readonly string[], show: boolean): Promise<boolean> {
  try {
    const stdout = show ? "inherit" : "null";
    return (await new Deno.Command(program!, { args, stdin: "null", stdout, stderr: "inherit" })
      .spawn().status).success;
  } catch {
    return false;
  }
}
