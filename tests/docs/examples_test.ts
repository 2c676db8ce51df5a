/**
 * Every example of README.md and the documentation: configurations are loaded, commands are parsed
 * with the command table, and commands shown with output are run and compared. `shell_test.ts` runs
 * the other commands, `screens_test.ts` compares screens, `library_test.ts` runs the TypeScript.
 */

import { assert, assertEquals } from "@std/assert";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parse } from "yaml";
import { readCommandLine } from "../../src/cli/args.ts";
import { configFileSchema } from "../../src/config/json_schema.ts";
import { UnknownWordError } from "../../src/cli/unknown_word.ts";
import { PAGES } from "../../src/docs/pages.ts";
import { splitWords } from "../../src/model/shell_line.ts";
import { mistakes } from "../config/files.ts";
import { RUNTIMES } from "../../src/runtimes/runtime_table.ts";
import { programLine, TestDaemon } from "../support/procsup.ts";
import { freePort } from "../support/http_load.ts";
import { tempHome } from "../support/temp_home.ts";
import { type Example, EXAMPLES, examplesIn, PAGE_FILES, ROOT, ROOT_URL } from "./examples.ts";

/** `text` is a screen or another program's file. */
const LANGUAGES = ["sh", "console", "yaml", "ts", "text"];

Deno.test("every example is in a language that a test runs or validates", () => {
  for (const { file, language, text } of EXAMPLES) {
    assert(LANGUAGES.includes(language), `${file}: ${language}: ${text}`);
  }
  // Each has a test in screens_test.ts, proxy_test.ts or log_shipping_test.ts, but for Vector and
  // Fluent Bit, which Debian does not have.
  assertEquals(examplesIn("text").map(({ file }) => file), [
    ...["README.md", "src/docs/dashboard.md", "src/docs/proxy.md", "src/docs/proxy.md"],
    ...["src/docs/rest.md", ...Array(3).fill("src/docs/shipping.md")],
  ]);
});

Deno.test("the README and each page are short, and each page begins with an example", () => {
  const generated = ["keys", "commands"].map((name) => `src/docs/${name}.md`);
  for (const file of PAGE_FILES) {
    const text = Deno.readTextFileSync(ROOT + file);
    if (!generated.includes(file)) assert(text.split("\n").length <= 150, file);
    if (file !== "README.md") assert(/^# .*\n\n```/.test(text), file);
  }
});

Deno.test("every link in README.md and the documentation leads to a file", () => {
  for (const file of PAGE_FILES) {
    const text = Deno.readTextFileSync(ROOT + file);
    for (const [, path = ""] of text.matchAll(/\]\((?!https?:)([^)]*)\)/g)) {
      assert(Deno.statSync(new URL(path, new URL(file, ROOT_URL))).isFile, `${file}: ${path}`);
    }
  }
});

Deno.test("README.md links to every page, and procsup help has each as a topic", () => {
  const readme = Deno.readTextFileSync(`${ROOT}README.md`);
  const pages = PAGE_FILES.filter((file) => file !== "README.md");
  for (const file of pages) {
    assert(readme.includes(`](${file})`), `README.md does not link ${file}`);
  }
  const topics = pages.map((file) => file.replace(/.*\/(.*)\.md$/, "$1"));
  assertEquals(Object.keys(PAGES).sort(), topics);
});

Deno.test("the page on starting has every runtime, with the files that select it", () => {
  const page = Deno.readTextFileSync(`${ROOT}src/docs/starting.md`);
  for (const { name, files } of RUNTIMES) {
    const row = `| ${files.map((file) => `\`${file}\``).join(", ")} |`;
    const line = page.split("\n").find((line) => line.startsWith(`| \`${name}\``))!;
    assert(line.replace(/ +/g, " ").includes(row), `${name}: ${row}`);
  }
});

Deno.test("every configuration is accepted by the editors' schema and by the program", async () => {
  const validate = new Ajv2020({ strict: false, validateFormats: false })
    .compile(configFileSchema());
  for (const { file, text } of examplesIn("yaml")) {
    const problem = () => `${file}: ${text}\n${JSON.stringify(validate.errors)}`;
    assert(validate(parse(text, { merge: true })), problem());
    assertEquals(await mistakes("procsup.yaml", text), [], `${file}: ${text}`);
  }
});

Deno.test("every command is valid, and every task and script exists", () => {
  const { tasks } = JSON.parse(Deno.readTextFileSync(`${ROOT}deno.json`));
  // A screen may begin with the command that prints it.
  const isShell = ({ language, text }: Example) =>
    /sh|console/.test(language) || (language === "text" && text.startsWith("$ "));
  for (const { file, text } of EXAMPLES.filter(isShell)) {
    for (const words of commandsIn(text)) {
      const shown = `${file}: ${words.join(" ")}`;
      if (words[0] === "procsup") assert(readCommandLine(words.slice(1)).command, shown);
      if (words[0] === "deno" && words[1] === "task") assert(tasks[words[2]!], shown);
      const path = words.find((word) => word.startsWith("scripts/"));
      if (path !== undefined) assert(Deno.statSync(ROOT + path).isFile, shown);
    }
  }
});

Deno.test("every command in a sentence or table is in the command table, with its flags", () => {
  const problems: string[] = [];
  for (const file of PAGE_FILES) {
    const prose = Deno.readTextFileSync(ROOT + file).replace(/^```[^]*?^```$/gm, "");
    for (const [, text = ""] of prose.matchAll(/`(?:sudo )?(procsup [^`]*)`/g)) {
      for (const words of commandsIn(text.replace(/\s+/g, " ").replaceAll("\\|", "|"))) {
        try {
          if (words[0] === "procsup") readCommandLine(words.slice(1));
        } catch (error) {
          // A sentence may omit a command's arguments.
          if (error instanceof UnknownWordError) problems.push(`${file}: ${text}: ${error}`);
        }
      }
    }
  }
  assertEquals(problems, []);
});

/** The simple commands of a block, as words. */
function commandsIn(text: string): string[][] {
  const lines = text.includes("\n$ ") || text.startsWith("$ ")
    ? text.split("\n").filter((line) => line.startsWith("$ ")).map((line) => line.slice(2))
    : text.replaceAll("\\\n", " ").split("\n");
  return lines.flatMap((line) => {
    const quoted: string[] = [];
    const bare = line.replace(/'[^']*'|"[^"]*"/g, (part) => `\0${quoted.push(part) - 1}\0`)
      .replace(/(^|\s)#.*/, "");
    return bare.split(/&&|\|\|?|;|\$\(|[{}()]/)
      .map((part) => part.replace(/\0(\d+)\0/g, (_, index) => quoted[index]!))
      .map((part) => splitWords(part.replace(/\s*[<>]\s*\S+/g, "")));
  });
}

const FILES: Readonly<Record<string, string>> = {
  "server.js": 'console.log("listening on 8080");\nsetInterval(() => {}, 1000);\n',
  "worker.sh":
    '#!/bin/sh\necho "job 1: done"\necho "job 2: lost the connection to the queue" >&2\nexit 3\n',
  "backup.sh": "#!/bin/sh\necho saved\n",
  Procfile: "web: node server.js\nclock: sleep 1000\n",
  "procsup.yaml":
    "processes:\n  shop: { entrypoint: server.js, instances: 2 }\n  mail: { entrypoint: server.js }\n",
};

Deno.test("every command shown with its output prints exactly that", async () => {
  await using daemon = await TestDaemon.start();
  await using folder = tempHome();
  for (const [name, text] of Object.entries(FILES)) {
    await Deno.writeTextFile(`${folder.path}/${name}`, text, { mode: 0o755 });
  }
  const words = programLine();
  // One by one, because an app that should fail at once must do so within its min_uptime.
  for (const example of examplesIn("console")) {
    const lines = example.text.split("\n").filter((line) => line.startsWith("$ "));
    const script = lines.map((line) => {
      const here = line.slice(2).replace(/--socket \d+/, () => `--socket ${freePort()}`);
      return `echo '${line.replaceAll("'", "'\\''")}'\n${here}`;
    });
    const { stdout } = await new Deno.Command("/bin/sh", {
      args: ["-c", `exec 2>&1\nprocsup() { ${words} "$@"; }\n${script.join("\n")}`],
      cwd: folder.path,
      env: { PROCSUP_HOME: daemon.home },
      stdin: "null",
    }).output();
    const said = new TextDecoder().decode(stdout);
    assertEquals(masked(said), masked(example.text), `${example.file} says:\n${said}`);
  }
});

/** Without ids, pids, times, sizes and column widths, which vary. */
function masked(text: Example["text"]): string[] {
  return text.trim().split("\n").map((line) =>
    line.replace(/ps_[0-9a-f]+/, "TOKEN")
      .replace(/(\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d(\.\d+Z)?/g, "TIME")
      .replace(/\b\d+(\.\d+)?(%| ?[kMG]?B\b|m?s\b)/g, "AMOUNT")
      .replace(/\b\d{3,}\b/g, "PID")
      .replace(/^ *\d+ /, "ID ")
      .replace(/\s+/g, " ")
  );
}
