import { assertEquals } from "@std/assert";
import { fixedWords, ownWords } from "../../src/platform/own_program.ts";

const source = {
  standalone: false,
  mainModule: "file:///opt/my%20app/main.ts",
  execPath: "/bin/deno",
  executable: undefined,
};
const portable = {
  ...source,
  mainModule: "file:///home/me/.cache/procsup/ab/portable_entry.js",
  executable: "/bin/procsup",
};

Deno.test("ownWords() runs the main module again with a small heap", () => {
  assertEquals(ownWords(source), [
    "/bin/deno",
    "run",
    "-A",
    "--no-prompt",
    "--v8-flags=--max-semi-space-size=1",
    "/opt/my app/main.ts",
  ]);
});

Deno.test("ownWords() runs a compiled executable directly", () => {
  assertEquals(ownWords({ ...source, standalone: true, execPath: "/bin/procsup" }), [
    "/bin/procsup",
  ]);
});

Deno.test("ownWords() goes through the portable executable, and fixedWords() bypasses it", () => {
  assertEquals(ownWords(portable), ["/bin/procsup"]);
  assertEquals(fixedWords(portable)[0], "/bin/deno");
  assertEquals(fixedWords(portable).at(-1), "/home/me/.cache/procsup/ab/portable_entry.js");
});

Deno.test("ownWords() trusts the portable executable's variable only inside its bundle", () => {
  assertEquals(ownWords({ ...source, executable: "/bin/evil" }), ownWords(source));
});
