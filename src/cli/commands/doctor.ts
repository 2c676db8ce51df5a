/**
 * `procsup doctor`: finds problems, and prints a command that fixes each. Here are the checks of the
 * daemon; those of its home and of the machine are in `doctor_checks.ts`.
 */

import { hasCode, ifPossible, ProcsupError } from "../../model/errors.ts";
import { shellHint } from "../../model/hint.ts";
import { isNewer, otherVersion, type Peer, VERSION } from "../../protocol/version.ts";
import { dirname } from "@std/path";
import { findUser } from "../../platform/users/as_user.ts";
import { readDaemonRecord } from "../../platform/daemon_record.ts";
import { pathsIn } from "../../platform/files/paths.ts";
import { type ServiceManager, serviceManager } from "../../platform/service_manager.ts";
import { lookAt, lstatIfAny } from "../../platform/files/stat.ts";
import { DaemonClient } from "../../protocol/daemon_client.ts";
import type { CommandContext } from "../command.ts";
import {
  checkClock,
  checkDisk,
  checkHome,
  checkLimits,
  checkOwners,
  checkState,
  checkUnpacked,
  type Finding,
  homeFlag,
  ok,
  reasonOf,
  runs,
  runsByHand,
  warning,
  wrong,
} from "../doctor_checks.ts";
import { counted } from "../human.ts";
import { printData } from "../output.ts";
import {
  namesHome,
  programsIn,
  sameUnit,
  searchFolders,
  searchPathOf,
  type Unit,
  unitHere,
  type UnitRequest,
  unsafeProgram,
} from "../startup_unit.ts";

const MARKS: Readonly<Record<Finding["status"], string>> = { ok: "✔", warning: "!", error: "✘" };

/** Prints every finding; exit code 1 when one is an error. */
export async function doctor({ home, output }: CommandContext): Promise<number> {
  const findings = await examine(home);
  if (!await printData(output, findings)) {
    const width = Math.max(...findings.map(({ check }) => check.length));
    for (const { check, status, says, fix } of findings) {
      output.data(`${MARKS[status]} ${check.padEnd(width)}  ${says}`);
      if (fix !== undefined) output.data(`  ${" ".repeat(width)}  fix: ${fix}`);
    }
  }
  return findings.some(({ status }) => status === "error") ? 1 : 0;
}

/** Runs all checks, in reading order. */
async function examine(home: string): Promise<Finding[]> {
  const there = checkHome(home);
  return [
    there,
    // If the home is not safe, these would only report the same again.
    ...there.status === "ok" ? [...checkOwners(home), ...await checkDaemon(home)] : [],
    ...checkState(home),
    ...checkBoot(home),
    ...await checkDisk(home),
    checkClock(home),
    ...checkLimits(home),
    ...checkUnpacked(home),
  ];
}

/** Checks that a daemon answers, or finds the cause. */
async function checkDaemon(home: string): Promise<Finding[]> {
  const peers: Peer[] = [];
  const client = new DaemonClient(home, (peer) => void peers.push(peer));
  try {
    const { version } = await client.call("ping");
    const upgrade = `procsup upgrade${homeFlag(home)}`;
    const other = peers[0] === undefined ? undefined : otherVersion(peers[0]);
    return [
      other === undefined
        ? ok("daemon", `it answers, version ${version}`)
        : warning("daemon", other, isNewer(version, VERSION) ? undefined : upgrade),
      ...checkToken(home),
      ...firstProcess(home),
      // Another version may answer in another way.
      ...other === undefined ? await checkFiles(client) : [],
    ];
  } catch (error) {
    if (!(error instanceof ProcsupError)) throw error;
    return [silentDaemon(home)];
  }
}

/** Checks that a reload of the applied configuration files would succeed. */
async function checkFiles(client: DaemonClient): Promise<Finding[]> {
  try {
    const { added, changed, unchanged } = await client.call("config_reload", { dry_run: true });
    const count = added.length + changed.length + unchanged.length;
    return [ok("files", `${counted(count, "process", "processes")}, no mistake`)];
  } catch (error) {
    // No file is applied.
    if (hasCode(error, "bad_request")) return [];
    if (!(error instanceof ProcsupError)) throw error;
    return [wrong("files", error.message, error.hint && shellHint(error.hint))];
  }
}

/** Checks that commands can read the daemon's token. */
function checkToken(home: string): Finding[] {
  const { token } = pathsIn(home);
  try {
    if (/^[0-9a-f]{64}$/.test(Deno.readTextFileSync(token).trim())) return [];
    return [wrong("token", `${token} holds no token: the daemon restores it within a second`)];
  } catch (error) {
    return error instanceof Deno.errors.NotFound
      ? [wrong("token", `${token} is missing: the daemon restores it within a second`)]
      : [wrong("token", `${token} cannot be read: ${reasonOf(error)}`)];
  }
}

/** In a container, process 1 must reap orphans. */
function firstProcess(home: string): Finding[] {
  if (readDaemonRecord(home)?.pid !== 1) return [];
  const says = "the daemon is process 1, and does not reap orphans";
  return [warning("init", says, "start the container with an init, or run: procsup run FILE")];
}

function silentDaemon(home: string): Finding {
  const { socket } = pathsIn(home);
  const start = `procsup daemon --detach${homeFlag(home)}`;
  const hasSocket = lstatIfAny(socket) !== undefined;
  if (runs(home)) {
    if (!hasSocket) {
      return wrong("daemon", "it runs, but its socket is missing: restored within a second");
    }
    const pid = readDaemonRecord(home)?.pid;
    const fix = pid === undefined ? undefined : `kill -KILL ${pid} && ${start}`;
    return wrong("daemon", "it runs and does not answer", fix);
  }
  return warning("daemon", hasSocket ? "a dead daemon left its socket" : "none runs", start);
}

type Scope = UnitRequest["scope"];

/** Checks that a current unit starts the daemon at boot. */
function checkBoot(home: string): Finding[] {
  const manager = serviceManager();
  if (manager === undefined) return [ok("boot", "no service manager here")];
  for (const scope of ["system", "user"] as const) {
    const unit = unitHere(manager, scope, home);
    const there = ifPossible(() => Deno.readTextFileSync(unit.path));
    if (there === undefined || !namesHome(there, home)) continue;
    const install = `procsup startup install --${scope}${homeFlag(home)}`;
    const problem = problemOf(unit, there, scope, install);
    return [
      problem ?? ok("boot", `${unit.path} starts the daemon`),
      ...aside(manager, scope, home, install),
    ];
  }
  const says = `${manager} does not start the daemon of this home at boot`;
  return [warning("boot", says, `procsup startup install${homeFlag(home)}`)];
}

function problemOf(unit: Unit, there: string, scope: Scope, install: string): Finding | undefined {
  const programs = programsIn(there);
  const [program] = programs;
  if (program !== undefined && lookAt(program) === undefined) {
    return wrong("boot", `${unit.path} starts ${program}, which is not there`, install);
  }
  const unsafe = unsafeProgram(programs);
  if (unsafe !== undefined) {
    const fix = "install procsup where only root may write, then: " + install;
    return wrong("boot", `${unit.path} is not safe: ${unsafe}`, fix);
  }
  const [folder] = searchFolders(searchPathOf(there)).unsafe;
  if (folder !== undefined) {
    return wrong("boot", `PATH in ${unit.path} is not safe: ${folder}`, install);
  }
  if (!isEnabled(unit, scope)) {
    return warning("boot", `${unit.path} exists, but is not enabled`, install);
  }
  if (sameUnit(there, unit.text)) return undefined;
  return warning("boot", `${unit.path} differs from what this version writes`, install);
}

/** systemd marks enabled units by links; for the others, the file itself is enough. */
function isEnabled({ path }: Unit, scope: Scope): boolean {
  if (!path.endsWith(".service")) return true;
  const target = scope === "user" ? "default" : "multi-user";
  return lookAt(`${dirname(path)}/${target}.target.wants/procsup.service`) !== undefined;
}

function aside(manager: ServiceManager, scope: Scope, home: string, install: string): Finding[] {
  const findings: Finding[] = [];
  const user = findUser(Deno.uid()!)?.name;
  if (
    manager === "systemd" && scope === "user" && user !== undefined &&
    lookAt(`/var/lib/systemd/linger/${user}`) === undefined
  ) {
    const says = "the apps end when you sign out, and start when you sign in";
    findings.push(warning("linger", says, `sudo loginctl enable-linger ${user}`));
  }
  if (runsByHand(home)) {
    const says =
      `the daemon that runs was not started by ${manager}, which will not start it again`;
    findings.push(warning("service", says, install));
  }
  return findings;
}
