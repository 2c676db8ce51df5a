/** Finding programs. */

import { assertEquals } from "@std/assert";
import { findExecutable } from "../../src/runtimes/programs.ts";
import { Sandbox } from "./sandbox.ts";

Deno.test("findExecutable() returns the first regular executable file on PATH", () => {
  using box = new Sandbox().installed(["tool"]).files("tool", "sub/x");
  Deno.mkdirSync(`${box.cwd}/folder/tool`, { recursive: true });
  // In turn: nothing, a folder with that name, a file without x bit, the program.
  const path = `/nowhere:${box.cwd}/folder:${box.cwd}:${box.bin}`;
  assertEquals(findExecutable("tool", box.cwd, path), `${box.bin}/tool`);
  assertEquals(findExecutable("tool", box.cwd, "/nowhere"), undefined);
  assertEquals(findExecutable("", box.cwd, path), undefined);
});

Deno.test("findExecutable() resolves paths and relative PATH entries against cwd", () => {
  using box = new Sandbox().program("bin/tool").program("here");
  assertEquals(findExecutable("bin/tool", box.cwd, ""), `${box.cwd}/bin/tool`);
  assertEquals(findExecutable("tool", box.cwd, "bin"), `${box.cwd}/bin/tool`);
  assertEquals(findExecutable("here", box.cwd, "/nowhere:"), `${box.cwd}/here`);
});

Deno.test("findExecutable() follows links, except dangling ones", () => {
  using box = new Sandbox().installed(["real"]);
  Deno.symlinkSync("real", `${box.bin}/alias`);
  Deno.symlinkSync("gone", `${box.bin}/dangling`);
  assertEquals(findExecutable("alias", box.cwd, box.bin), `${box.bin}/alias`);
  assertEquals(findExecutable("dangling", box.cwd, box.bin), undefined);
});
