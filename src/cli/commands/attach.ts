/** `procsup attach` and `procsup send`: the terminal and the standard input of an app. */

import { ProcsupError } from "../../model/errors.ts";
import type { TerminalPiece } from "../../protocol/change_json.ts";
import type { CommandContext } from "../command.ts";
import { connect } from "../connect.ts";
import { forEachTarget } from "../results.ts";
import { terminalSize } from "../terminal_size.ts";

/** Sends its words as a line to the app. */
export async function send(context: CommandContext): Promise<number> {
  const [target, ...words] = context.positionals as [string, ...string[]];
  const text = words.join(" ") + (context.flags.on("no-newline") ? "" : "\n");
  const command = { ...context, positionals: [target] };
  return await forEachTarget(command, (client, target) => client.call("send", { target, text }));
}

/** Connects the terminal until a key detaches or the app ends; then returns the app's exit code. */
export async function attach(context: CommandContext): Promise<number> {
  const { positionals, flags, output } = context;
  const [target] = positionals as [string];
  const word = flags.text("detach-key") ?? "ctrl-]";
  const key = detachKey(word);
  refuseWithoutTerminal(target);
  const client = connect(context);
  const { columns, rows } = terminalSize();
  // Change the size once, so that the app redraws its screen.
  await client.call("attach", { target, columns, rows: Math.max(1, rows - 1) });
  const { name } = await client.call("attach", { target, columns, rows });
  const { following, unending } = await import("../../protocol/following.ts");
  const { RawTerminal } = await import("../raw_terminal.ts");
  const terminal = new RawTerminal({
    key,
    send: async (text) => void await client.call("send", { target: name, text }),
    resize: async (size) => void await client.call("attach", { target: name, ...size }),
  }, output);
  let pid = 0;
  let start: Record<string, string> = { lines: String(rows) };
  const open = async () => {
    const query = new URLSearchParams({ target: name, ...start });
    return unending<TerminalPiece>(await client.stream(`/attach?${query}`));
  };
  output.note(`attached to ${name}: ${word} detaches`);
  const note = (message: string) => terminal.write(`\r\n${message}\r\n`);
  const end = await terminal.use(async () => {
    for await (const piece of following({ open, note })) {
      if ("ended" in piece) return piece;
      // The terminal of a new run has the default size.
      if (pid > 0 && piece.pid > 0 && piece.pid !== pid) terminal.resize();
      pid = piece.pid || pid;
      start = { from: String(piece.position) };
      terminal.write(piece.text);
    }
  });
  const isDetached = typeof end === "number";
  output.note(isDetached ? `detached from ${name}` : `${name} ended: ${end!.ended}`);
  return isDetached ? end : end!.code ?? 1;
}

function refuseWithoutTerminal(target: string): void {
  if (Deno.stdin.isTerminal() && Deno.stdout.isTerminal()) return;
  throw new ProcsupError("bad_request", "Cannot attach here: this is not a terminal", {
    hint: `procsup send ${target} <text>, or procsup logs ${target} -f`,
  });
}

/** Converts `ctrl-]` to its control character. Throws `bad_request`. */
function detachKey(word: string): string {
  const [, letter] = /^ctrl-([a-z@[\\\]^_])$/i.exec(word) ?? [];
  if (letter !== undefined) return String.fromCharCode(letter.toUpperCase().charCodeAt(0) & 31);
  const message = `Invalid --detach-key ${JSON.stringify(word)}: expected ctrl- and a letter or ]`;
  throw new ProcsupError("bad_request", message, { hint: "procsup help attach" });
}
