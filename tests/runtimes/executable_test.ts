/** Finding programs. */

import { assertEquals } from "@std/assert";
import { findExecutable } from "../../src/runtimes/executable.ts";
import { Sandbox } from "./sandbox.ts";

Deno.test("findExecutable() takes the first regular executable file on PATH", () => {
  using box = new Sandbox().installed(["tool"]).files("tool", "sub/x");
  Deno.mkdirSync(`${box.cwd}/folder/tool`, { recursive: true });
  // In turn: not there, a folder of the name, a file without x bit, the one.
  const path = `/nowhere:${box.cwd}/folder:${box.cwd}:${box.bin}`;
  assertEquals(findExecutable("tool", box.cwd, path), `${box.bin}/tool`);
  assertEquals(findExecutable("tool", box.cwd, "/nowhere"), undefined);
  assertEquals(findExecutable("", box.cwd, path), undefined);
});

Deno.test("findExecutable() counts paths and relative PATH entries from cwd", () => {
  using box = new Sandbox().program("bin/tool").program("here");
  assertEquals(findExecutable("bin/tool", box.cwd, ""), `${box.cwd}/bin/tool`);
  assertEquals(findExecutable("tool", box.cwd, "bin"), `${box.cwd}/bin/tool`);
  assertEquals(findExecutable("here", box.cwd, "/nowhere:"), `${box.cwd}/here`);
});

Deno.test("findExecutable() follows links, and not those that lead nowhere", () => {
  using box = new Sandbox().installed(["real"]);
  Deno.symlinkSync("real", `${box.bin}/alias`);
  Deno.symlinkSync("gone", `${box.bin}/dangling`);
  assertEquals(findExecutable("alias", box.cwd, box.bin), `${box.bin}/alias`);
  assertEquals(findExecutable("dangling", box.cwd, box.bin), undefined);
});
