/** `procsup startup`: starts the daemon at boot. Shows the steps and asks, unless `-y` is given. */

import { ProcsupError } from "../../model/errors.ts";
import { dirname } from "@std/path";
import { readFileIfAny, removeFile } from "../../platform/files/atomic_file.ts";
import { comesTrue } from "../../platform/clock.ts";
import { beginHandover } from "../../platform/daemon_record.ts";
import { ownWords } from "../../platform/own_program.ts";
import { pathsIn } from "../../platform/files/paths.ts";
import { serviceManager, systemdRuns } from "../../platform/service_manager.ts";
import { wayProblem } from "../../platform/files/way.ts";
import { DAEMON_PATIENCE_MS } from "../../protocol/liveness.ts";
import type { CommandContext } from "../command.ts";
import { answers, releaseDaemon, startDaemon, untilReleased } from "../detach.ts";
import { checkHome, runsByHand } from "../doctor_checks.ts";
import { confirmed, type Output, printData } from "../output.ts";
import {
  namesHome,
  sameUnit,
  searchFolders,
  type Step,
  type Unit,
  unitHere,
  unsafeProgram,
} from "../startup_unit.ts";
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

/** Writes the unit and starts it, after confirmation or with `--yes`. Replaces a running daemon. */
async function install(context: CommandContext, unit: Unit): Promise<number> {
  const { output, home } = context;
  refuseForeignHome(home);
  refuseForeignWay(unit.path, "write");
  refuseForeignProgram();
  const byHand = starts(unit) && runsByHand(home);
  output.note(`${unit.text}\nThis goes to ${unit.path}${instead(unit, home)}, then:`);
  if (byHand) output.note("  it replaces the running daemon; apps keep running");
  for (const { words } of unit.enable) output.note(`  ${words.join(" ")}`);
  for (const folder of searchFolders(Deno.env.get("PATH") ?? "").unsafe) {
    output.note(`  left out of PATH, because another user may put programs there: ${folder}`);
  }
  refuseUnasked(context, "written", "install");
  if (!confirmed(context, "Write it?")) return 1;
  write(unit);
  output.done(`✔ wrote ${unit.path}`);
  using _handover = byHand
    ? await beginHandover(pathsIn(home), { ms: DAEMON_PATIENCE_MS })
    : undefined;
  if (byHand) await untilReleased(home, await releaseDaemon(home));
  if (!await runSteps(output, unit.enable)) {
    if (byHand) {
      await startDaemon(home);
      output.note("The daemon was started again, as before");
    }
    return 1;
  }
  if (starts(unit)) await untilAnswers(home);
  return 0;
}

/** Throws `home_unusable` for a home that the daemon would refuse at each start. */
function refuseForeignHome(home: string): void {
  const { status, says, fix } = checkHome(home);
  if (status !== "error") return;
  throw new ProcsupError("home_unusable", `Cannot start a daemon at boot: ${says}`, { hint: fix });
}

/** Describes the unit that is replaced, which may be that of another home. */
function instead({ path }: Unit, home: string): string {
  const there = readFileIfAny(path);
  if (there === undefined) return "";
  return namesHome(there, home) ? ", in place of the one there" : ", in place of another home's";
}

/** True if the daemon starts now, not only at the next boot. */
function starts({ enable }: Unit): boolean {
  return systemdRuns() || !enable.some(({ live }) => live);
}

/** Throws `forbidden` for root on a path with links of a user, whose HOME may still be set. */
function refuseForeignWay(path: string, act: "write" | "remove"): void {
  const problem = Deno.uid() === 0 ? wayProblem(path) : undefined;
  if (problem === undefined) return;
  throw new ProcsupError("forbidden", `Refusing to ${act} "${path}": ${problem}`, {
    hint: "Run it as that user, without sudo",
  });
}

/** Throws `forbidden` for root on a program that another user could exchange. */
function refuseForeignProgram(): void {
  const problem = unsafeProgram(ownWords());
  if (problem === undefined) return;
  throw new ProcsupError("forbidden", `Cannot start a daemon of root at boot: ${problem}`, {
    hint: "Install procsup where only root may write, such as /usr/local/bin",
  });
}

function write({ path, text, mode }: Unit): void {
  try {
    Deno.mkdirSync(dirname(path), { recursive: true });
    Deno.writeTextFileSync(path, text, { mode });
    // The mode above applies only to new files, and the umask reduces it.
    Deno.chmodSync(path, mode);
  } catch (error) {
    if (!(error instanceof Deno.errors.PermissionDenied)) throw error;
    throw new ProcsupError("forbidden", `Not allowed to write "${path}"`, {
      hint: "sudo procsup startup install, or: procsup startup install --user",
    });
  }
}

/** Waits for the daemon: not every service manager waits until a service is ready. */
async function untilAnswers(home: string): Promise<void> {
  if (await comesTrue(() => answers(home), { ms: DAEMON_PATIENCE_MS, everyMs: POLL_MS })) return;
  throw new ProcsupError("start_failed", `No daemon answers for home "${home}" yet`, {
    hint: "See what the service manager says: procsup startup status",
  });
}

async function uninstall(context: CommandContext, unit: Unit): Promise<number> {
  const { output } = context;
  if (readFileIfAny(unit.path) === undefined) {
    output.done(`Nothing to remove: there is no ${unit.path}`);
    return 0;
  }
  refuseForeignWay(unit.path, "remove");
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

const POLL_MS = 50;

/** Throws `bad_request` without a terminal to confirm on, unless `-y` was given. */
function refuseUnasked({ flags }: CommandContext, done: string, verb: string): void {
  if (flags.on("yes") || Deno.stdin.isTerminal()) return;
  throw new ProcsupError("bad_request", `Nothing was ${done}: confirmation needs a terminal`, {
    hint: `procsup startup ${verb} --yes`,
  });
}

/**
 * Runs the steps in order; stops and returns false when a step without `advice` fails. Skips `live`
 * steps if systemd is installed but not running, as in an image build.
 */
async function runSteps(output: Output, steps: readonly Step[]): Promise<boolean> {
  for (const { words, live, advice } of steps) {
    const later = live && words[0]!.endsWith("ctl") && !systemdRuns();
    if (later || await succeeds(words)) continue;
    output.note(advice ?? `It failed: ${words.join(" ")}`);
    if (advice === undefined) return false;
  }
  return true;
}

/** Runs a command; returns true on success. Shows its errors, and with `show` its output. */
async function succeeds(words: readonly string[], show = false): Promise<boolean> {
  const [program, ...args] = words;
  try {
    const stdout = show ? "inherit" : "null";
    return (await new Deno.Command(program!, { args, stdin: "null", stdout, stderr: "inherit" })
      .spawn().status).success;
  } catch {
    return false;
  }
}
