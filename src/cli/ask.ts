/** Asks for confirmation of an action that cannot be undone, if standard input is a terminal. */

import type { CommandContext } from "./command.ts";
import { writeMessage } from "./output.ts";

/** True if the user confirms. True without asking with `--yes`, or without a terminal. */
export function confirmed({ flags }: CommandContext, question: string): boolean {
  if (flags.on("yes") || !Deno.stdin.isTerminal()) return true;
  writeMessage(`${question} [y/N] `);
  const buffer = new Uint8Array(1024);
  const length = Deno.stdin.readSync(buffer) ?? 0;
  return /^y(es)?$/i.test(new TextDecoder().decode(buffer.subarray(0, length)).trim());
}
