import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { npmBundle } from "../../src/platform/own_program.ts";
import { keepProgram, keptWords } from "../../src/platform/daemon_record.ts";
import { fixedWords } from "../../src/platform/own_program.ts";
import { BY_OUR_NAMES } from "../support/link_library.ts";
import { SmallDisk } from "../support/small_disk.ts";
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

/** A package below a folder whose program keeps itself in the home beside it. */
function keptFrom(folder: string): Promise<Deno.CommandOutput> {
  const npm = `${folder}/npm`;
  Deno.mkdirSync(npm);
  Deno.writeTextFileSync(`${npm}/build_id`, "new");
  const source = new URL("../../src/platform/daemon_record.ts", import.meta.url).href;
  const text = `import { keepProgram } from "${source}"; keepProgram(Deno.args[0]);`;
  Deno.writeTextFileSync(`${npm}/npm_entry.js`, `${text}\n//${"-".repeat(100_000)}`);
  const args = ["run", "-A", ...BY_OUR_NAMES, `${npm}/npm_entry.js`, `${folder}/home`];
  return new Deno.Command(Deno.execPath(), { args }).output();
}

Deno.test("keepProgram() keeps the copy that another first start is writing, and removes other versions", async () => {
  await using home = tempHome();
  const programs = `${home.path}/home/program`;
  Deno.mkdirSync(`${programs}/new.4711`, { recursive: true });
  Deno.mkdirSync(`${programs}/old`);
  const { success } = await keptFrom(home.path);
  assert(success);
  const names = [...Deno.readDirSync(programs)].map(({ name }) => name).sort();
  assertEquals(names, ["new", "new.4711"]);
});

Deno.test({
  name: "keepProgram() fails on a full disk, and leaves nothing there",
  ignore: Deno.build.os !== "linux" || Deno.uid() !== 0,
  async fn() {
    await using home = tempHome();
    Deno.mkdirSync(`${home.path}/home`);
    using _disk = new SmallDisk(`${home.path}/home`, "64k");
    const { stderr } = await keptFrom(home.path);
    assertStringIncludes(new TextDecoder().decode(stderr), "No space left on device");
    assertEquals([...Deno.readDirSync(`${home.path}/home/program`)], []);
  },
});
