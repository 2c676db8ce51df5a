/** The way to the daemon: the one that answers, or, for `start`, one brought up on the spot. */

import { ProcsupError } from "../model/errors.ts";
import { DaemonClient } from "../protocol/daemon_client.ts";
import { otherVersion, refuseOtherProtocol } from "../protocol/peer.ts";
import type { CommandContext } from "./command.ts";

/** A client of the daemon of the command's home. Nothing is sent yet. */
export function connect({ home, output }: CommandContext): DaemonClient {
  let told = false;
  return new DaemonClient(home, (peer) => {
    refuseOtherProtocol(peer);
    const other = told ? undefined : otherVersion(peer);
    told = true;
    if (other !== undefined) output.note(other);
  }, callingHook());
}

/** The hook that runs this program, if one does. */
function callingHook(): string | undefined {
  const [event, id] = [Deno.env.get("PROCSUP_EVENT"), Deno.env.get("PROCSUP_ID")];
  return event && id ? `${event} ${id}` : undefined;
}

/** Runs `act`; when no daemon answers, brings one up, says so, and runs it once more. */
export async function withDaemonStarted<T>(
  context: CommandContext,
  act: () => Promise<T>,
): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const absent = error instanceof ProcsupError && error.code === "daemon_unreachable";
    if (!absent || !mayStart(context)) throw error;
    const { startDaemon } = await import("./detach.ts");
    context.output.note(`starting daemon (home ${context.home})`);
    await startDaemon(context.home);
    return await act();
  }
}

/** A service manager that wants to own the daemon switches this off. */
function mayStart({ flags }: CommandContext): boolean {
  return !flags.on("no-start-daemon") && Deno.env.get("PROCSUP_NO_AUTOSTART") !== "1";
}
