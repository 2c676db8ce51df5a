/** Connects to the daemon, and starts it if a command such as `start` needs one. */

import { hasCode } from "../model/errors.ts";
import { DaemonClient } from "../protocol/daemon_client.ts";
import { otherVersion, refuseOtherProtocol } from "../protocol/version.ts";
import type { CommandContext } from "./command.ts";

/** The version of the daemon was checked: a command may open several connections. */
let isWarned = false;

/** A client of the command's daemon. Connects with the first call. */
export function connect({ home, host, output }: CommandContext): DaemonClient {
  return new DaemonClient(host ?? home, (peer) => {
    refuseOtherProtocol(peer);
    const other = isWarned ? undefined : otherVersion(peer);
    isWarned = true;
    if (other !== undefined) output.note(host ? `${host.machine}: ${other}` : other);
  }, callingHook());
}

/** The same for full-screen views: prints no note about another version. */
export function connectQuietly({ home, host }: CommandContext): DaemonClient {
  return new DaemonClient(host ?? home);
}

/** The home of the daemon, on its own machine. */
export async function homeOf({ home, host }: CommandContext): Promise<string> {
  return host === undefined ? home : (await host.hello()).home;
}

/** The hook that runs this program, if any. */
function callingHook(): string | undefined {
  const [event, id] = [Deno.env.get("PROCSUP_EVENT"), Deno.env.get("PROCSUP_ID")];
  return event && id ? `${event} ${id}` : undefined;
}

/** Runs `act`. If no daemon answers, starts one, prints a notice and runs `act` again. */
export async function withDaemonStarted<T>(
  context: CommandContext,
  act: () => Promise<T>,
): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const absent = hasCode(error, "daemon_unreachable");
    if (!absent || !mayStart(context)) throw error;
    const { host, output } = context;
    const where = host === undefined ? "" : ` on ${host.machine}`;
    output.note(`starting daemon${where} (home ${await homeOf(context)})`);
    if (host === undefined) await (await import("./detach.ts")).startDaemon(context.home);
    else await host.ask((await import("../contexts/ssh.ts")).START_PATH);
    return await act();
  }
}

/** A service manager that owns the daemon turns this off by flag or environment. */
function mayStart({ flags }: CommandContext): boolean {
  return !flags.on("no-start-daemon") && Deno.env.get("PROCSUP_NO_AUTOSTART") !== "1";
}
