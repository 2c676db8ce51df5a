/** Files where processes are meant: `restart ecosystem.config.js`, as in PM2. */

import { ProcsupError } from "../model/errors.ts";
import type { CommandContext } from "./command.ts";

/** Throws `bad_request` for the first word that is a configuration file of this folder. */
export async function refuseFiles({ command, positionals }: CommandContext): Promise<void> {
  // A name with a dot is rare: only then the disk is asked, and the kinds of files are loaded.
  for (const word of positionals.filter((word) => word.includes("."))) {
    const { isConfigName } = await import("../config/file_kind.ts");
    if (!isConfigName(word) || !isFile(word)) continue;
    const starts = command.name === "restart" || command.name === "reload";
    throw new ProcsupError("bad_request", `Cannot ${command.name} "${word}": it is a file`, {
      hint: starts
        ? `procsup start ${word} starts what is new, and restarts what has changed`
        : `Name the apps, or their namespace: procsup ${command.name} ns:<name>`,
    });
  }
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
