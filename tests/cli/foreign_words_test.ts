import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { readCommandLine } from "../../src/cli/args.ts";
import { COMMANDS } from "../../src/cli/command_table.ts";
import { findCommand } from "../../src/cli/command.ts";
import { FOREIGN_COMMANDS, FOREIGN_WORDS, withForeignHint } from "../../src/cli/foreign_words.ts";
import { UnknownWordError } from "../../src/cli/unknown_word.ts";
import { runCommandLine } from "./fake_daemon.ts";
import { hintOf } from "../support/hint_of.ts";

function hint(...words: string[]): string | undefined {
  return hintOf(withForeignHint(assertThrows(() => readCommandLine(words), UnknownWordError)));
}

Deno.test("withForeignHint() only lists words that procsup lacks", () => {
  for (const word of Object.keys(FOREIGN_COMMANDS)) {
    assertEquals(hint(word), FOREIGN_COMMANDS[word], word);
  }
  for (const [command, words] of Object.entries(FOREIGN_WORDS)) {
    for (const [word, text] of Object.entries(words)) {
      const before = word.startsWith("-") ? ["x", "y"] : [];
      assertEquals(hint(command, ...before, word), text, `${command} ${word}`);
    }
  }
  for (const command of ["stop", "restart"]) {
    assertEquals(hint(command, "--all"), "Use the target all");
  }
  assertEquals(hint("save", "--all"), "procsup help save");
});

Deno.test("withForeignHint() refers only to existing commands", () => {
  const hints = [FOREIGN_COMMANDS, ...Object.values(FOREIGN_WORDS)].flatMap(Object.values<string>);
  const named = hints.flatMap((text) => [...text.matchAll(/procsup ([a-z]+) (?:<|-|[a-z]+ <)/g)]);
  assert(named.length > 20);
  for (const [text, word] of named) assert(findCommand(COMMANDS, word!), text);
});

Deno.test("withForeignHint() knows the topics of help, and no hint names a hidden command", () => {
  assertEquals(hint("remote"), "procsup help remote");
  assertEquals(hint("jobs"), "procsup help jobs");
  assertEquals(hint("complete"), "procsup help");
});

Deno.test("withForeignHint() leaves mere typos to other hints", () => {
  assertEquals(hint("strat"), 'Did you mean "procsup start"?');
  assertEquals(hint("start", "x", "--nmae", "y"), 'Did you mean "--name"?');
  assertEquals(hint("start", "x", "--verbose"), 'Flags of the app itself go after "--"');
  assertEquals(hint("constructor"), "procsup help");
});

Deno.test("procsup names its counterpart of a PM2 flag, and changes nothing", async () => {
  const { code, stdout, stderr } = await runCommandLine(["start", "x.js", "--no-autorestart"]);
  assertEquals([code, stdout], [2, ""]);
  assertEquals(
    stderr,
    'error: Unknown flag "--no-autorestart"\n  hint: Use --restart never\n  more: procsup help start\n',
  );
});

Deno.test("a wrong command line names the help page of its command, and of no later word", async () => {
  const [unknown, known] = await Promise.all([
    runCommandLine(["tail", "web"]),
    runCommandLine(["flush"]),
  ]);
  assertStringIncludes(unknown.stderr, "more: procsup help commands");
  assertStringIncludes(known.stderr, "more: procsup help flush");
});
