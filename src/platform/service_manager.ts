/** Which service manager starts things at boot here, and how it stands with this process. */

import { readFileIfAny } from "./atomic_file.ts";
import { isLinux } from "./os.ts";
import { lookAt } from "./stat.ts";

/** The service managers that procsup can ask for a start at boot. */
export type ServiceManager = "systemd" | "launchd" | "openrc";

/** The one of this machine; undefined when it has none that is known. */
export function serviceManager(): ServiceManager | undefined {
  if (Deno.build.os === "darwin") return "launchd";
  if (!isLinux) return undefined;
  // A disk may hold both: the one that runs decides.
  if (systemdRuns()) return "systemd";
  if (lookAt("/sbin/openrc-run") !== undefined) return "openrc";
  return ["/lib/systemd/systemd", "/usr/lib/systemd/systemd"].some(lookAt) ? "systemd" : undefined;
}

/** Whether systemd runs this machine, and not only lies on its disk: sd_booted(3). */
export function systemdRuns(): boolean {
  return lookAt("/run/systemd/system") !== undefined;
}

/** Version of the systemd on this machine; 0 where it does not say. */
export function systemdVersion(): number {
  try {
    const { stdout } = new Deno.Command("systemctl", {
      args: ["--version"],
      stdin: "null",
      stderr: "null",
    }).outputSync();
    return Number(/^systemd (\d+)/.exec(new TextDecoder().decode(stdout))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** The service manager that started this very process as its unit `procsup`, and starts it again. */
export function startedBy(): ServiceManager | null {
  const { env, pid } = Deno;
  if (env.get("SYSTEMD_EXEC_PID") === String(pid)) return "systemd";
  if (env.get("XPC_SERVICE_NAME") === "procsup") return "launchd";
  return env.get("RC_SVCNAME") === "procsup" ? "openrc" : null;
}

/** Longer than a service manager takes that still answers. */
const PATIENCE_MS = 5000;

/**
 * Whether the service manager is about to end everything, and not this process alone: the machine
 * goes down, or the session of the user.
 */
export async function everythingEnds(manager: ServiceManager | null): Promise<boolean> {
  if (manager === "systemd") return await systemdStops();
  return manager === "openrc" && await openrcStops();
}

async function systemdStops(): Promise<boolean> {
  // Only the service manager of a user says which process it is.
  const scope = Deno.env.has("MANAGERPID") ? ["--user"] : [];
  return await said("systemctl", ...scope, "is-system-running") === "stopping";
}

/** OpenRC goes to the runlevel before it stops anything; under sysvinit it is init that knows it. */
async function openrcStops(): Promise<boolean> {
  const level = (readFileIfAny("/run/openrc/softlevel") ?? "").trim();
  if (/^(shutdown|reboot|single)$/.test(level)) return true;
  return /^\S+ [016]$/.test(await said("runlevel"));
}

/** The output of a program; empty if it is missing or too slow. */
async function said(program: string, ...args: string[]): Promise<string> {
  try {
    const { stdout } = await new Deno.Command(program, {
      args,
      stdin: "null",
      stderr: "null",
      signal: AbortSignal.timeout(PATIENCE_MS),
    }).output();
    return new TextDecoder().decode(stdout).trim();
  } catch {
    return "";
  }
}
