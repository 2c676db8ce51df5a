/** `procsup daemon`: the daemon itself, in the foreground or in the background. */

import { openBackend } from "../../export/mod.ts";
import type { CommandContext } from "../command.ts";

/** Runs the daemon until it ends; with `--detach`, starts it in the background. */
export async function daemon(context: CommandContext): Promise<number> {
  const { home, flags, output } = context;
  if (!flags.on("detach")) {
    const { runDaemon } = await import("../../daemon/daemon.ts");
    return await runDaemon({
      home,
      copiesOn: async (engine, signal) =>
        await (await openBackend({ ...engine, signal }, "/")).list(),
      onReady: () => output.note(`daemon is running (home ${home})`),
    });
  }
  const { answers, startDaemon } = await import("../detach.ts");
  if (await answers(home)) {
    output.note(`daemon is already running (home ${home})`);
    return 0;
  }
  output.note(`starting daemon (home ${home})`);
  await startDaemon(home);
  return 0;
}
