/** Everything that messages and hints of the program name exists: commands, flags, help pages. */

import { assert, assertEquals } from "@std/assert";
import { readCommandLine } from "../../src/cli/args.ts";
import { COMMANDS } from "../../src/cli/command_table.ts";
import { EXIT_CODES } from "../../src/cli/commands/help.ts";
import { findCommand } from "../../src/cli/command.ts";
import { UnknownWordError } from "../../src/cli/unknown_word.ts";
import { PAGES } from "../../src/docs/pages.ts";
import { ERROR_TABLE } from "../../src/model/errors.ts";
import { ROOT } from "./examples.ts";

/** The commands that hints name as data, as words of a command line, with `x` for values. */
function hintCommandsIn(code: string): string[] {
  const called = code.matchAll(
    /commandHint\(\s*"([a-z ]+)"(?:,\s*([^,{}()]+))?(?:,\s*(\{[^}]*\}))?/g,
  );
  const literal = code.matchAll(
    /command: \{\s*verb: "([a-z ]+)"(?:,\s*target: ([^,{}]+))?[^{}]*?(?:flags: (\{[^}]*\}))?,?\s*\}/g,
  );
  return [...called, ...literal].map(([, verb, target = "", flags = ""]) => {
    const word = /^"([a-z]+)"$/.exec(target.trim())?.[1] ?? "x";
    const given = [...flags.matchAll(/([a-z-]+)"?(?:: ([^,}]+))?/g)].map(([, name, value = "x"]) =>
      `--${name}${value.trim() === "true" ? "" : " 1"}`
    );
    const named = target === "" || target === "undefined" ? [] : [word];
    return [verb, ...named, ...given].join(" ");
  });
}

function* sources(folder: string): Generator<string> {
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) {
      if (!["npm", "built"].includes(name)) yield* sources(path);
    } else if (/\.tsx?$/.test(name) && !/_test\.tsx?$/.test(name)) yield path;
  }
}

/** Words that follow the program's name in prose. */
const PROSE = "again configuration did has in on opens recognizes ring rotates runs " +
  "supervises that there where works wrote";

/** Commands in the strings of a source file, with `x` for variable words. */
function commandsIn(code: string): string[] {
  const text = code.replace(/^\s*(\/\*\*?|\*|\/\/).*$/gm, "")
    // A string that continues on the next line.
    .replace(/(["`]) \+\s*["`]/g, "")
    .replace(/(?<=\S)\$\{[^{}]*\}/g, "\n").replace(/\$\{[^{}]*\}|<[\w -]+>|…|\[[\w -]+\]/g, "x");
  const commands = /(?<![\w/@.-]|-c )procsup((?: (?:[\w@][\w.:=/@-]*|--?[a-z][\w-]*))+)/g;
  return [...text.matchAll(commands)]
    .map(([, words = ""]) => words.replace(/( and| names| takes| lists|[.:]( |$)| procsup).*/, ""))
    .map((words) => words.trim()).filter((words) => words !== "");
}

Deno.test("every command and help page in a message or hint of the program exists", () => {
  const problems: string[] = [];
  const prose = new Set(PROSE.split(" "));
  const said = new Set<string>();
  let found = 0;
  for (const path of sources(`${ROOT}src`)) {
    const code = Deno.readTextFileSync(path);
    for (const text of [...commandsIn(code), ...hintCommandsIn(code)]) {
      const words = text.split(" ");
      const file = path.slice(ROOT.length);
      found++;
      if (prose.has(words[0]!)) {
        said.add(words[0]!);
        continue;
      }
      try {
        readCommandLine(words);
      } catch (error) {
        if (!(error instanceof UnknownWordError) || error.word === "x") continue;
        // Other words after a command are those of the sentence.
        if (error.command === undefined || error.word.startsWith("-")) {
          problems.push(`${file}: ${text}: ${error.message}`);
        }
      }
      const [command, topic] = words;
      if (command !== "help" || topic === undefined || /^(x$|-)/.test(topic)) continue;
      if (!(topic in PAGES) && findCommand(COMMANDS, topic) === undefined) {
        problems.push(`${file}: no page "${topic}"`);
      }
    }
  }
  assertEquals(problems, []);
  assertEquals([...prose.difference(said)], []);
  assert(found > 100, String(found));
});

Deno.test("every exit code of an error is in the help", () => {
  const listed = new Set(EXIT_CODES.map(([code]) => Number(code)));
  assertEquals(
    Object.values(ERROR_TABLE).map(({ exit }) => exit).filter((exit) => !listed.has(exit)),
    [],
  );
});
