/** `runtime: auto`. */

import { assertEquals } from "@std/assert";
import { commandLine } from "../../src/runtimes/command_line.ts";
import { Sandbox } from "./sandbox.ts";

const ALL = ["go", "python3", "node", "bun", "deno", "ruby", "php"];

function line(files: readonly string[], entrypoint: string): string {
  using box = new Sandbox().installed(ALL, "v24.0.0").files(...files);
  const { argv, runtime } = commandLine(box.config(entrypoint), { path: box.bin });
  return `${runtime}: ${box.short(argv)}`;
}

Deno.test("detectRuntime() considers the entrypoint's extension before the folder's files", () => {
  assertEquals(
    line(["app.py", "package.json", "go.mod"], "app.py"),
    "python: bin/python3 app/app.py",
  );
  assertEquals(line(["app.rb", "deno.json"], "app.rb"), "ruby: bin/ruby app/app.rb");
  assertEquals(line(["app.php", "go.mod"], "./app.php"), "php: bin/php app/app.php");
  assertEquals(line(["main.go", "package.json"], "main.go"), "go: bin/go run app/main.go");
});

Deno.test("detectRuntime() chooses a JavaScript runtime by the folder's files", () => {
  assertEquals(line(["a.js"], "a.js"), "node: bin/node app/a.js");
  assertEquals(line(["a.mjs", "deno.json"], "a.mjs"), "deno: bin/deno run -A app/a.mjs");
  assertEquals(line(["a.cjs", "bun.lockb"], "a.cjs"), "bun: bin/bun run app/a.cjs");
  assertEquals(line(["a.js", "package.json", "deno.json"], "a.js"), "node: bin/node app/a.js");
});

Deno.test("detectRuntime() chooses a TypeScript runtime by the folder's files", () => {
  assertEquals(
    line(["a.ts", "deno.jsonc", "package.json"], "a.ts"),
    "deno: bin/deno run -A app/a.ts",
  );
  for (const file of ["bun.lockb", "bun.lock", "bunfig.toml"]) {
    assertEquals(line(["a.mts", file, "package.json"], "a.mts"), "bun: bin/bun run app/a.mts");
  }
  assertEquals(line(["a.ts", "package.json"], "a.ts"), "node: bin/node app/a.ts");
  assertEquals(line(["a.tsx"], "a.tsx"), "deno: bin/deno run -A app/a.tsx");
});

Deno.test("detectRuntime() falls back to the deno that runs procsup", () => {
  using box = new Sandbox().files("a.ts");
  const { argv, runtime } = commandLine(box.config("a.ts"), { path: box.bin });
  assertEquals(runtime, "deno");
  assertEquals(argv, [Deno.execPath(), "run", "-A", `${box.cwd}/a.ts`]);
});

Deno.test("detectRuntime() scans the folder, in the table's order, for a script without a known extension", () => {
  assertEquals(
    line(["worker", "pyproject.toml", "package.json"], "worker"),
    "python: bin/python3 app/worker",
  );
  assertEquals(line(["worker", "x.php"], "worker"), "php: bin/php app/worker");
  assertEquals(line(["worker", "Gemfile", "composer.json"], "worker"), "ruby: bin/ruby app/worker");
});

Deno.test("detectRuntime() scans a folder that is the entrypoint", () => {
  assertEquals(line(["go.mod", "main.go", "package.json"], "."), "go: bin/go run .");
  assertEquals(line(["go.mod", "cmd/api/main.go"], "./cmd/api"), "go: bin/go run app/cmd/api");
  assertEquals(line(["package.json"], "./"), "node: bin/node app");
  assertEquals(line(["web/package.json"], "web"), "node: bin/node app/web");
});
