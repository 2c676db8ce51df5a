/** Asks before something that cannot be taken back, when a person is there to answer. */

import type { CommandContext } from "./command.ts";
import { writeMessage } from "./output.ts";

/** Whether to go on: yes without asking under `--yes`, and where no person is there. */
export function confirmed({ flags }: CommandContext, question: string): boolean {
  if (flags.on("yes") || !Deno.stdin.isTerminal()) return true;
  writeMessage(`${question} [y/N] `);
  const buffer = new Uint8Array(1024);
  const length = Deno.stdin.readSync(buffer) ?? 0;
  return /^y(es)?$/i.test(new TextDecoder().decode(buffer.subarray(0, length)).trim());
}
