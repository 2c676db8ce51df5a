/** The service manager of this machine, and its relation to this process. */

import { readFileIfAny } from "./atomic_file.ts";
import { isLinux, outputOf } from "./os.ts";
import { lookAt } from "./stat.ts";

/** The service managers with which procsup can start at boot. */
export type ServiceManager = "systemd" | "launchd" | "openrc";

/** The service manager of this machine; undefined without a known one. */
export function serviceManager(): ServiceManager | undefined {
  if (Deno.build.os === "darwin") return "launchd";
  if (!isLinux) return undefined;
  // Both may be installed: the running one counts.
  if (systemdRuns()) return "systemd";
  if (lookAt("/sbin/openrc-run") !== undefined) return "openrc";
  return ["/lib/systemd/systemd", "/usr/lib/systemd/systemd"].some(lookAt) ? "systemd" : undefined;
}

/** Whether systemd runs this machine, not only is installed: sd_booted(3). */
export function systemdRuns(): boolean {
  return lookAt("/run/systemd/system") !== undefined;
}

/** Version of systemd on this machine; 0 if unknown. */
export function systemdVersion(): number {
  return Number(/^systemd (\d+)/.exec(outputOf("systemctl", ["--version"]) ?? "")?.[1] ?? 0);
}

/** The service manager that started this process as its unit `procsup`, and restarts it. */
export function startedBy(): ServiceManager | null {
  const { env, pid } = Deno;
  if (env.get("SYSTEMD_EXEC_PID") === String(pid)) return "systemd";
  if (env.get("XPC_SERVICE_NAME") === "procsup") return "launchd";
  return env.get("RC_SVCNAME") === "procsup" ? "openrc" : null;
}

/** A service manager that works answers sooner. */
const PATIENCE_MS = 5000;

/**
 * Whether the service manager is stopping everything, not this process alone: the machine shuts
 * down, or the user's session ends.
 */
export async function everythingEnds(manager: ServiceManager | null): Promise<boolean> {
  if (manager === "systemd") return await systemdStops();
  return manager === "openrc" && await openrcStops();
}

async function systemdStops(): Promise<boolean> {
  // Only a user's service manager sets it.
  const scope = Deno.env.has("MANAGERPID") ? ["--user"] : [];
  return await said("systemctl", ...scope, "is-system-running") === "stopping";
}

/** OpenRC changes the runlevel before it stops anything; under sysvinit, ask init. */
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
