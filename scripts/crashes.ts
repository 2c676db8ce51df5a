/**
 * Checks that `why` finds the line that explains why an app crashed:
 *
 *     deno run -A scripts/crashes.ts
 *
 * Programs in many languages crash, each in its own way; languages that are not installed are skipped.
 * Prints a line per program. The exit code is 1 if a line was not found.
 */

import type { WhyJson } from "../src/protocol/wire.ts";
import { temporaryFolder } from "./bench/system.ts";

const MAIN = import.meta.dirname!.replace(/scripts$/, "main.ts");

/** Source of a program, and what its error line must contain. */
type Crash = readonly [name: string, source: string, expected: string];

/** The command for a file in a language, and crashing programs. */
interface Language {
  readonly command: (file: string) => string;
  readonly end: string;
  readonly crashes: readonly Crash[];
}

const LANGUAGES: Readonly<Record<string, Language>> = {
  node: {
    command: (file) => `node ${file}`,
    end: "cjs",
    crashes: [
      ["module", 'require("./nope")', "Cannot find module './nope'"],
      ["throw", 'function f() { throw new TypeError("bad port") }\nf()', "TypeError: bad port"],
      ["reject", 'Promise.reject(new Error("no database"))', "Error: no database"],
      ["text", 'throw "out of luck"', "out of luck"],
      ["syntax", "const = 1", "SyntaxError: Unexpected token '='"],
      ["cause", 'throw new Error("boot", { cause: new Error("disk gone") })', "disk gone"],
      ["custom", 'class Bad extends Error { name = "Bad" }\nthrow new Bad("mine")', "Bad: mine"],
      [
        "pino",
        'console.log(JSON.stringify({ level: 30, msg: "up" }));\n' +
        'console.log(JSON.stringify({ level: 60, err: { message: "no redis", ' +
        'stack: "Error: no redis\\n    at x.js:1" }, msg: "cannot start" }));\nprocess.exit(1)',
        "cannot start: Error: no redis",
      ],
      [
        "warned",
        'process.emitWarning("old");\nsetTimeout(() => { throw new RangeError("far") }, 50)',
        "RangeError: far",
      ],
    ],
  },
  deno: {
    command: (file) => `deno run ${file}`,
    end: "ts",
    crashes: [
      ["throw", 'throw new Error("bad config");', "Error: bad config"],
      ["module", 'import "./nope.ts";', "Module not found"],
      ["permission", 'Deno.readTextFileSync("/etc/passwd");', "Requires read access"],
    ],
  },
  python3: {
    command: (file) => `python3 ${file}`,
    end: "py",
    crashes: [
      ["raise", 'def f():\n  raise ValueError("bad rate")\nf()', "ValueError: bad rate"],
      ["module", "import nope_module", "No module named 'nope_module'"],
      ["syntax", "def f(:\n  pass", "SyntaxError: "],
      ["custom", 'class Halt(BaseException): pass\nraise Halt("over")', "Halt: over"],
      [
        "chained",
        'try:\n  {}["k"]\nexcept KeyError as e:\n  raise RuntimeError("no key") from e',
        "RuntimeError: no key",
      ],
      ["exit", 'import sys\nsys.exit("config.yaml is missing")', "config.yaml is missing"],
      [
        "logging",
        'import logging\nlogging.error("cannot bind")\nlogging.info("bye")\nraise SystemExit(1)',
        "cannot bind",
      ],
    ],
  },
  ruby: {
    command: (file) => `ruby ${file}`,
    end: "rb",
    crashes: [
      ["raise", 'def f = raise("no luck")\nf', "no luck (RuntimeError)"],
      ["load", 'require "nope_gem"', "cannot load such file -- nope_gem (LoadError)"],
      ["file", 'File.read("/nope")', "(Errno::ENOENT)"],
    ],
  },
  php: {
    command: (file) => `php ${file}`,
    end: "php",
    crashes: [
      ["throw", '<?php throw new Exception("no cash");', "Uncaught Exception: no cash"],
      ["parse", "<?php if (", "PHP Parse error: "],
      ["undefined", "<?php nope();", "undefined function nope()"],
    ],
  },
  go: {
    command: (file) => `go run ${file}`,
    end: "go",
    crashes: [
      [
        "index",
        "package main\nfunc main() { a := []int{}; i := 3; println(a[i]) }",
        "panic: runtime error: index out of range [3]",
      ],
      ["panic", 'package main\nfunc main() { panic("no shard") }', "panic: no shard"],
      [
        "fatal",
        'package main\nimport "log"\nfunc main() { log.Fatal("listen: port in use") }',
        "listen: port in use",
      ],
      ["deadlock", "package main\nfunc main() { <-make(chan int) }", "deadlock!"],
    ],
  },
  sh: {
    command: (file) => `sh ${file}`,
    end: "sh",
    crashes: [
      ["command", "set -e\necho up\nnope_command --x", "nope_command: not found"],
      ["denied", "set -e\n: > x.txt\nchmod 644 x.txt\n./x.txt", "Permission denied"],
      ["after", "cat /nope/file\necho cleaning up >&2\nexit 3", "No such file or directory"],
      ["unset", 'set -u\necho "$NOPE"', "NOPE: parameter not set"],
    ],
  },
  java: {
    command: (file) => `java ${file}`,
    end: "java",
    crashes: [
      [
        "throw",
        'class A { public static void main(String[] a) { throw new RuntimeException("no heap") } }'
          .replace(") }", "); }"),
        "java.lang.RuntimeException: no heap",
      ],
      [
        "cause",
        'class A { public static void main(String[] a) { try { Integer.parseInt("x"); } ' +
        'catch (Exception e) { throw new IllegalStateException("bad", e); } } }',
        'NumberFormatException: For input string: "x"',
      ],
    ],
  },
  perl: {
    command: (file) => `perl ${file}`,
    end: "pl",
    crashes: [
      ["die", 'sub f { die "no route" }\nf();', "no route at "],
      ["module", "use Nope::Module;", "Can't locate Nope/Module.pm"],
    ],
  },
  rustc: {
    command: (file) => `sh -c "rustc -o ${file}.bin ${file} 2>/dev/null; exec ${file}.bin"`,
    end: "rs",
    crashes: [
      ["panic", 'fn main() { panic!("no core") }', "no core"],
      [
        "error",
        'fn main() -> Result<(), std::io::Error> { std::fs::read("/nope")?; Ok(()) }',
        'Error: Os { code: 2, kind: NotFound, message: "No such file or directory" }',
      ],
    ],
  },
};

function print(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

/** The output of a command, which may fail: `start` does if apps crash. */
async function printed(program: string, ...args: string[]): Promise<string> {
  const { stdout } = await new Deno.Command(program, { args, stderr: "null" }).output();
  return new TextDecoder().decode(stdout);
}

const home = temporaryFolder();
const procsup = (...args: string[]) => printed("deno", "run", "-A", MAIN, "--home", home, ...args);

const expected = new Map<string, string>();
const processes: Record<string, unknown> = {};
for (const [language, { command, end, crashes }] of Object.entries(LANGUAGES)) {
  if (await printed("sh", "-c", `command -v ${language}`) === "") {
    print(`-  ${language} is not installed`);
    continue;
  }
  for (const [name, source, line] of crashes) {
    const file = `${home}/${language}-${name}.${end}`;
    Deno.writeTextFileSync(file, source);
    const config = { command: command(file), cwd: home, restart_policy: "never" };
    processes[`${language}-${name}`] = config;
    expected.set(`${language}-${name}`, line);
  }
}

let named = 0;
try {
  Deno.writeTextFileSync(`${home}/procsup.json`, JSON.stringify({ processes }));
  await procsup("start", `${home}/procsup.json`);
  await procsup("wait", "all", "--for", "exit", "--timeout", "2m");
  const lines = (await procsup("why", "all", "-o", "jsonl")).trim().split("\n");
  const answers = lines.map((line): WhyJson => JSON.parse(line));
  for (const { process: { name }, error_line = "" } of answers) {
    const isNamed = error_line.includes(expected.get(name)!);
    if (isNamed) named++;
    print(`${isNamed ? "✔" : "✘"}  ${name.padEnd(18)} ${error_line}`);
  }
  print(`${named} of ${expected.size} named`);
} finally {
  await procsup("kill");
  Deno.removeSync(home, { recursive: true });
}
Deno.exit(named === expected.size ? 0 : 1);
