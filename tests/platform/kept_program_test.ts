import { assert, assertEquals } from "@std/assert";
import { npmBundle } from "../../src/platform/own_program.ts";
import { keepProgram, keptWords } from "../../src/platform/kept_program.ts";
import { fixedWords } from "../../src/platform/own_program.ts";
import { tempHome } from "../support/temp_home.ts";

Deno.test("npmBundle() returns the folder of the npm package's bundle, and a command for a copy of it", () => {
  const program = {
    standalone: false,
    mainModule: "file:///usr/lib/node_modules/procsup/lib/npm_entry.js",
    execPath: "/usr/bin/deno",
    executable: "/usr/bin/procsup",
  };
  const npm = npmBundle(program)!;
  assertEquals(npm.folder, "/usr/lib/node_modules/procsup/lib");
  assertEquals(
    npm.wordsFor("/home/me/.procsup/program/ab").at(-1),
    "/home/me/.procsup/program/ab/npm_entry.js",
  );
  assertEquals(npmBundle({ ...program, mainModule: "file:///src/main.ts" }), undefined);
});

Deno.test("keepProgram() copies only the npm package", async () => {
  await using home = tempHome();
  keepProgram(home.path);
  assertEquals([...Deno.readDirSync(home.path)], []);
  assertEquals(keptWords(home.path), fixedWords());
});

Deno.test("keepProgram() keeps the copy that another first start is writing, and removes other versions", async () => {
  await using home = tempHome();
  const [npm, programs] = [`${home.path}/npm`, `${home.path}/home/program`];
  Deno.mkdirSync(npm);
  Deno.mkdirSync(`${programs}/new.4711`, { recursive: true });
  Deno.mkdirSync(`${programs}/old`);
  Deno.writeTextFileSync(`${npm}/build_id`, "new");
  const source = new URL("../../src/platform/kept_program.ts", import.meta.url).href;
  Deno.writeTextFileSync(
    `${npm}/npm_entry.js`,
    `import { keepProgram } from "${source}"; keepProgram(Deno.args[0]);`,
  );
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-config", `${npm}/npm_entry.js`, `${home.path}/home`],
  }).output();
  assert(success);
  const names = [...Deno.readDirSync(programs)].map(({ name }) => name).sort();
  assertEquals(names, ["new", "new.4711"]);
});
