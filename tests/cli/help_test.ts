import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { ENGINE_FLAGS, type Flag, GLOBAL_FLAGS } from "../../src/cli/flags.ts";
import { COMMANDS } from "../../src/cli/command_table.ts";
import { commandHelp, flagRow, overview, pageLines } from "../../src/cli/commands/help.ts";
import { PAGES, pageText } from "../../src/docs/pages.ts";
import { ERROR_TABLE } from "../../src/model/errors.ts";

Deno.test("overview() lists every command of the table, and fits a terminal", () => {
  const text = overview(COMMANDS);
  for (const { name, summary } of COMMANDS.filter(({ hidden }) => !hidden)) {
    assertStringIncludes(text, `  ${name}`);
    assertStringIncludes(text, summary);
  }
  for (const line of text.split("\n")) assert(line.length <= 100, line);
});

Deno.test("commandHelp() lists every example of its command, and with --all every flag", () => {
  for (const command of COMMANDS) {
    const text = commandHelp(command, { all: true });
    for (const flag of [...command.flags, ...GLOBAL_FLAGS]) {
      assertStringIncludes(text, `--${flag.name}`);
    }
    for (const example of command.examples) assertStringIncludes(text, example);
    for (const alias of Object.keys(command.aliases ?? {})) assertStringIncludes(text, alias);
  }
});

/** The flags in the help of a command, without those of every command. */
function flagsShown(name: string, all = false): string[] {
  const text = commandHelp(COMMANDS.find((command) => command.name === name)!, { all });
  return [...text.split("Flags of every command")[0]!.matchAll(/^ {2}(?:-\w, | {4})--([\w-]+)/gm)]
    .map(([, flag]) => flag!);
}

Deno.test("help start shows twelve flags, and counts the others", () => {
  const [common, all] = [flagsShown("start"), flagsShown("start", true)];
  assertEquals(common.length, 12);
  for (const flag of ["name", "instances", "env", "watch"]) assert(common.includes(flag), flag);
  const text = commandHelp(COMMANDS.find(({ name }) => name === "start")!);
  assertStringIncludes(text, `… ${all.length - 12} more: procsup help start --all`);
});

Deno.test("help restart has its own flags, and names those of start", () => {
  assertEquals(flagsShown("restart"), ["no-wait", "update-env"]);
  const count = flagsShown("restart", true).length - 2;
  const text = commandHelp(COMMANDS.find(({ name }) => name === "restart")!);
  assertStringIncludes(
    text,
    `… ${count} flags of start, which change the app: procsup help restart`,
  );
});

Deno.test("the flags of engines are in the help of up, and on one page", async () => {
  const names = ENGINE_FLAGS.map(({ name }) => name);
  assertEquals(flagsShown("up").filter((name) => names.includes(name)), names);
  for (const name of ["list", "logs", "scale", "reload", "why", "down", "context"]) {
    assertEquals(flagsShown(name).filter((flag) => names.includes(flag)), [], name);
    assert(flagsShown(name).includes("on"), name);
  }
  const page = await pageText("engines");
  for (const name of names) assertStringIncludes(page!, `\`--${name}`);
});

Deno.test("a reference has each flag of several commands once", async () => {
  const page = await pageText("commands");
  const rows = page!.match(/^\| `(?:-\w, )?--(?:no-wait|profile|on|stack|home)[ `]/gm) ?? [];
  // `export` has a --stack of its own; the other commands' is on the page of engines.
  assertEquals(rows.map((row) => /--[\w-]+/.exec(row)![0]).sort(), [
    "--home",
    "--no-wait",
    "--on",
    "--profile",
    "--stack",
  ]);
});

Deno.test("help breaks descriptions at the width of the terminal, and loses no word", () => {
  const words = (text: string) => text.split(/\s+/);
  const narrow = [
    overview(COMMANDS, 60),
    ...COMMANDS.map((command) => commandHelp(command, { width: 60 })),
  ];
  assertEquals(
    narrow.map(words),
    [overview(COMMANDS), ...COMMANDS.map((command) => commandHelp(command))].map(words),
  );
  const flags = COMMANDS.flatMap(({ flags }) => flags).concat(GLOBAL_FLAGS);
  const unbroken = flags.map((flag) => `  ${flagRow(flag)[0]}`)
    .concat(COMMANDS.flatMap(({ examples }) => examples.map((example) => `  ${example}`)));
  const long = narrow.flatMap((text) => text.split("\n")).filter((line) => line.length > 60);
  assertEquals(long.filter((line) => line.startsWith("  ") && !unbroken.includes(line)), []);
});

Deno.test("the flags of start have the defaults of a new app, those of restart none", () => {
  const helpOf = (command: string) =>
    COMMANDS.find(({ name }) => name === command)!.flags.find(({ name }) => name === "cwd")!.help;
  assertEquals(helpOf("start"), "working directory (default: the current one)");
  assertEquals(helpOf("restart"), "working directory");
});

Deno.test("COMMANDS have unique names, aliases and flags", () => {
  const names = COMMANDS.flatMap((
    command,
  ) => [command.name, ...Object.keys(command.aliases ?? {})]);
  assertEquals(names.length, new Set(names).size);
  for (const command of COMMANDS) {
    const flags = [...command.flags, ...GLOBAL_FLAGS].flatMap((flag: Flag) => [
      flag.name,
      flag.short ?? `--${flag.name}`,
      ...flag.aliases ?? [],
    ]);
    assertEquals(flags.length, new Set(flags).size, command.name);
  }
});

Deno.test("COMMANDS each load a module with a run function", async () => {
  for (const command of COMMANDS) {
    assertEquals(typeof await command.load(), "function", command.name);
  }
});

Deno.test("PAGES has the heading of each page", async () => {
  for (const [topic, { title }] of Object.entries(PAGES)) {
    assertEquals((await pageText(topic))!.split("\n", 1)[0], `# ${title}`);
  }
});

Deno.test("PAGES has a page for every command and every error", () => {
  for (const { page } of [...COMMANDS, ...Object.values(ERROR_TABLE)]) {
    assert(Object.hasOwn(PAGES, page), page);
  }
});

Deno.test("no page of procsup help has the name of a command", () => {
  const words = COMMANDS.flatMap(({ name, aliases }) => [name, ...Object.keys(aliases ?? {})]);
  assertEquals(words.filter((word) => Object.hasOwn(PAGES, word)), []);
});

Deno.test("pageLines() converts Markdown to text for a terminal", () => {
  const page = "# Title\n\n```sh\nprocsup list\n```\n\nSee [logs](logging.md#levels).\n\n" +
    "| Key | Means |\n| --- | --- |\n| `a` | one \\| two |\n";
  assertEquals(
    pageLines(page, false).trimEnd(),
    "Title\n\n    procsup list\n\nSee logs (procsup help logging).\n\n" +
      "Key  Means\n`a`  one | two",
  );
  assertEquals(pageLines(page, false, 13).trimEnd().split("\n").slice(-4), [
    "`a`",
    "    Means:",
    "      one |",
    "      two",
  ]);
});

Deno.test("pageLines() breaks paragraphs and lists at the width of the terminal, and code never", () => {
  const page =
    "One two\nthree `fo ur`\nfive.\n\n- a b c\n  d e f\n- g\n\n```sh\nprocsup list api\n```\n";
  assertEquals(
    pageLines(page, false, 10).trimEnd(),
    "One two\nthree\n`fo ur`\nfive.\n\n- a b c d\n  e f\n- g\n\n    procsup list api",
  );
  assertStringIncludes(
    pageLines(page, false),
    "One two\nthree `fo ur`\nfive.\n\n- a b c\n  d e f\n",
  );
});
