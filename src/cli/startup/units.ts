/** The unit of each service manager, and the one that is meant on this machine. */

import { ownWords } from "../../platform/own_program.ts";
import { dirname } from "../../platform/paths.ts";
import { type ServiceManager, systemdVersion } from "../../platform/service_manager.ts";
import { launchdUnit } from "./launchd.ts";
import { openrcUnit } from "./openrc.ts";
import { systemdUnit } from "./systemd.ts";
import type { Unit, UnitRequest } from "./unit.ts";

/** The unit of a service manager. */
export function unitFor(manager: ServiceManager, request: UnitRequest): Unit {
  return { systemd: systemdUnit, launchd: launchdUnit, openrc: openrcUnit }[manager](request);
}

/** The unit that starts this very program here, for one of its homes. */
export function unitHere(manager: ServiceManager, scope: UnitRequest["scope"], home: string): Unit {
  const fallback = Deno.uid() === 0 ? "/root" : dirname(home);
  return unitFor(manager, {
    scope,
    words: ownWords(),
    home,
    userHome: Deno.env.get("HOME") ?? fallback,
    path: Deno.env.get("PATH") ?? "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    version: manager === "systemd" ? systemdVersion() : 0,
  });
}
