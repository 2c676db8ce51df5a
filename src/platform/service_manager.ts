/** Which service manager starts things at boot here, and where it looks for them. */

import { isLinux } from "./os.ts";

/** The service managers that procsup can ask for a start at boot. */
export type ServiceManager = "systemd" | "launchd" | "openrc";

/** The one of this machine; undefined when it has none that is known. */
export function serviceManager(): ServiceManager | undefined {
  if (Deno.build.os === "darwin") return "launchd";
  if (!isLinux) return undefined;
  if (isThere("/sbin/openrc-run")) return "openrc";
  return ["/run/systemd/system", "/lib/systemd/systemd", "/usr/lib/systemd/systemd"].some(isThere)
    ? "systemd"
    : undefined;
}

/** Whether systemd runs this machine, and not only lies on its disk. */
export function systemdRuns(): boolean {
  return isThere("/run/systemd/system");
}

function isThere(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}
