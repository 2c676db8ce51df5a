/** TypeScript under Node.js. */

import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { ProcsupError } from "../../src/model/errors.ts";
import { commandLine } from "../../src/runtimes/command_line.ts";
import { supportOf } from "../../src/runtimes/runtime_table.ts";
import { Sandbox } from "./sandbox.ts";

Deno.test("supportOf() knows which Node.js versions strip types", () => {
  const expected = {
    "v24.0.0\n": "native",
    "v23.6.0": "native",
    "v22.18.1": "native",
    "v23.5.0": "flag",
    "v22.17.9": "flag",
    "v22.6.0": "flag",
    "v22.5.1": "none",
    "v20.20.2": "none",
    "": "none",
  };
  for (const [version, support] of Object.entries(expected)) {
    assertEquals(supportOf(version), support, version);
  }
});

const TSX = "node_modules/.bin/tsx";

function line(version: string, script: string, ...files: string[]): string {
  using box = new Sandbox().installed(["node", "npx"], version);
  box.files("package.json", script, ...files);
  return box.short(commandLine(box.config(script), { path: box.bin }).argv);
}

Deno.test("commandLine() runs TypeScript in the way that the installed Node.js supports", () => {
  assertEquals(line("v22.18.0", "a.ts"), "bin/node app/a.ts");
  assertEquals(line("v22.7.0", "a.ts"), "bin/node --experimental-strip-types app/a.ts");
  assertEquals(line("v20.20.2", "a.ts", TSX), "bin/npx tsx app/a.ts");
  assertEquals(line("v24.0.0", "a.tsx", TSX), "bin/npx tsx app/a.tsx");
});

Deno.test("commandLine() falls back to Deno when Node.js lacks tsx, or explains what to install", () => {
  assertMatch(line("v20.20.2", "a.ts"), /deno run -A app\/a\.ts$/);
  using box = new Sandbox().installed(["node", "npx"], "v20.20.2").files("a.ts");
  const error = assertThrows(
    () => commandLine(box.config("a.ts", { runtime: "node" }), { path: box.bin }),
    ProcsupError,
    "without tsx",
  );
  assertMatch(error.hint!.text!, /npm i -D tsx/);
});

Deno.test("commandLine() asks Node.js for its version once, and again when it was replaced", () => {
  using box = new Sandbox().files("package.json", "a.ts", TSX).installed(["npx"]);
  const install = (version: string, mtime: number) => {
    box.installed(["node"], version);
    const count = `echo asked >>'${box.cwd}/asked'\n`;
    Deno.writeTextFileSync(`${box.bin}/node`, count, { append: true });
    Deno.utimeSync(`${box.bin}/node`, mtime, mtime);
  };
  const ask = () => box.short(commandLine(box.config("a.ts"), { path: box.bin }).argv);
  install("v20.0.0", 1000);
  assertEquals([ask(), ask()], ["bin/npx tsx app/a.ts", "bin/npx tsx app/a.ts"]);
  install("v24.0.0", 2000);
  assertEquals([ask(), ask()], ["bin/node app/a.ts", "bin/node app/a.ts"]);
  assertEquals(Deno.readTextFileSync(`${box.cwd}/asked`), "asked\nasked\n");
});

Deno.test("commandLine() asks a Node.js again that failed or hung, and does not wait long", () => {
  using box = new Sandbox().files("package.json", "a.ts", TSX).installed(["npx"]);
  const install = (script: string) => {
    Deno.writeTextFileSync(`${box.bin}/node`, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    Deno.utimeSync(`${box.bin}/node`, 1000, 1000);
  };
  const ask = () => box.short(commandLine(box.config("a.ts"), { path: box.bin }).argv);
  for (const script of ["exit 1", "exec /bin/sleep 100"]) {
    install(script);
    assertEquals(ask(), "bin/npx tsx app/a.ts");
  }
  install("echo v24.0.0");
  assertEquals(ask(), "bin/node app/a.ts");
});

Deno.test("commandLine() does not ask a Node.js that hangs at each start", () => {
  using box = new Sandbox().files("package.json", "a.ts", TSX).installed(["npx"]);
  const script = `#!/bin/sh\necho asked >>'${box.cwd}/asked'\nexec /bin/sleep 100\n`;
  Deno.writeTextFileSync(`${box.bin}/node`, script, { mode: 0o755 });
  for (let start = 0; start < 3; start++) {
    assertEquals(
      box.short(commandLine(box.config("a.ts"), { path: box.bin }).argv),
      "bin/npx tsx app/a.ts",
    );
  }
  assertEquals(Deno.readTextFileSync(`${box.cwd}/asked`), "asked\n");
});
