/** `procsup top`: a full-screen live view. */

import { ProcsupError } from "../../model/errors.ts";
import type { CommandContext } from "../command.ts";
import { connect, connectQuietly } from "../connect.ts";
import { intervalOf } from "../interval.ts";

/** Shows the view, or prints one frame of it. Throws `bad_request` without a screen. */
export async function top(context: CommandContext): Promise<number> {
  const { flags, output, host } = context;
  if (!output.isForPeople) {
    throw refusal(`as ${output.format}`, `procsup list -o ${output.format}`);
  }
  const intervalMs = intervalOf(flags.text("interval"));
  const once = flags.on("once");
  if (!once) refuseWithoutScreen();
  const processes = await connect(context).call("list");
  if (once) {
    const { frame } = await import("../top/run.ts");
    output.data(frame(processes, { color: output.color, columns: output.width }).join("\n"));
    return 0;
  }
  const { runTop } = await import("../top/run.ts");
  // A quiet client: a note about the daemon's version must not be printed into the screen.
  return await runTop({
    client: connectQuietly(context),
    isRemote: host !== undefined,
    processes,
    color: output.color,
    intervalMs,
  });
}

function refuseWithoutScreen(): void {
  if (!Deno.stdout.isTerminal()) throw refusal("here: stdout is not a terminal");
  if (!Deno.stdin.isTerminal()) throw refusal("here: stdin is not a terminal");
  if (Deno.env.get("TERM") === "dumb") throw refusal('here: the terminal is "dumb"');
}

function refusal(where: string, hint?: string): ProcsupError {
  return new ProcsupError("bad_request", `Cannot show the live view ${where}`, {
    hint: hint ?? "procsup list --watch, procsup top --once, or procsup list -o json",
  });
}
