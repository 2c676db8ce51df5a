/** Checks that a current unit starts the daemon at boot. */

import { ifPossible } from "../../model/errors.ts";
import { dirname } from "../../npm/path.js";
import { readDaemonRecord } from "../../platform/daemon_record.ts";
import { isFree } from "../../platform/lock.ts";
import { pathsIn } from "../../platform/paths.ts";
import { type ServiceManager, serviceManager } from "../../platform/service_manager.ts";
import { lookAt } from "../../platform/stat.ts";
import { findUser } from "../../platform/users.ts";
import { namesHome, sameUnit, type Unit, unitHere, type UnitRequest } from "../startup/unit.ts";
import { type Finding, homeFlag, ok, warning, wrong } from "./finding.ts";

type Scope = UnitRequest["scope"];

/** Checks the unit of a home. */
export function checkBoot(home: string): Finding[] {
  const manager = serviceManager();
  if (manager === undefined) return [ok("boot", "no service manager here")];
  for (const scope of ["system", "user"] as const) {
    const unit = unitHere(manager, scope, home);
    const there = readable(unit.path);
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
  const program = /^(?:ExecStart=|command=)['"]*([^'"\s]+)/m.exec(there)?.[1] ??
    /<array>\s*<string>([^<]+)/.exec(there)?.[1];
  if (program !== undefined && lookAt(program) === undefined) {
    return wrong("boot", `${unit.path} starts ${program}, which is not there`, install);
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
  const { lock } = pathsIn(home);
  if (!isFree(lock) && !readDaemonRecord(home)?.service) {
    const says =
      `the daemon that runs was not started by ${manager}, which will not start it again`;
    findings.push(warning("service", says, install));
  }
  return findings;
}

function readable(path: string): string | undefined {
  return ifPossible(() => Deno.readTextFileSync(path));
}
