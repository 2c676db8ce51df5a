/** The library pages' examples, run exactly as printed by a program outside the repository. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Client } from "../../src/client.ts";
import { Manager, ProcessHost } from "../../src/mod.ts";
import { TestDaemon } from "../support/procsup.ts";
import { linkLibrary } from "../support/link_library.ts";
import { examplesIn, ROOT } from "./examples.ts";
import { type TempHome, tempHome } from "../support/temp_home.ts";

/** Every example except those of `programs_test.ts`; its imports are checked too. */
const CODE = examplesIn("ts").filter(({ file }) => !file.endsWith("programs.md"))
  .map(({ text }) => text);

function examplesOf(name: string): string[] {
  const found = CODE.filter((code) => code.includes(`from "${name}"`));
  assert(found.length > 0, `no example of ${name}`);
  return found;
}

/** The flags of a row of the permissions table. */
function flagsOf(row: string): string[] {
  const page = Deno.readTextFileSync(`${ROOT}src/docs/library.md`);
  const line = page.split("\n").find((line) => line.startsWith(`| ${row}`))!;
  return line.match(/--allow-[^\s`]+/g) ?? [];
}

/** Runs an example from its folder with only these flags. */
async function run(folder: TempHome, code: string, flags: string[], env = {}) {
  linkLibrary(folder.path);
  await Deno.writeTextFile(`${folder.path}/example.ts`, code);
  const { code: status, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", ...flags, "example.ts"],
    cwd: folder.path,
    env: { NO_COLOR: "1", TMPDIR: folder.path, ...env },
    stdin: "null",
  }).output();
  const text = new TextDecoder();
  assertEquals(text.decode(stderr).replace(/^(Download|Check) .*\n/gm, ""), "");
  assertEquals(status, 0);
  return text.decode(stdout);
}

Deno.test("the pages' examples of Manager run as printed", async () => {
  const flags = flagsOf("`Manager`, Linux");
  assertEquals(flags, ["--allow-all"]);
  const examples = examplesOf("@procsup/procsup");
  assertEquals(examples.length, 3);
  const [lines, jobs, events] = await Promise.all(examples.map(async (example) => {
    await using folder = tempHome();
    return await run(folder, example, flags);
  }));
  assert(/^running \d+\nstdout .*\d\d:\d\d:\d\d/.test(lines!), lines);
  assertEquals(jobs, "0 hello\nrunning running\n");
  assertStringIncludes(events!, "job crashed 3\n");
  assertEquals(events!.trim().split("\n").at(-1), "job errored 3");
});

Deno.test("the pages' examples of Client and of a configuration run as printed, with the listed permissions", async () => {
  await using daemon = await TestDaemon.start();
  await using folder = tempHome();
  const flags = flagsOf("`Client` of the daemon in H").map((flag) =>
    flag.replace(/([=:])H\b/, `$1${daemon.home}`)
  );
  assertEquals(flags.length, 4);
  const [code] = examplesOf("@procsup/procsup/client");
  const output = await run(folder, code!, flags, { PROCSUP_HOME: daemon.home });
  assert(/^web running \d+\n$/.test(output), output);
  assertEquals((await daemon.status("web")).state, "stopped");
  await daemon.client.call("delete", "web");

  const [config] = examplesOf("@procsup/procsup/config");
  assertEquals(await run(folder, config!, []), "");
  await Deno.writeTextFile(`${folder.path}/procsup.config.ts`, config!);
  const started = await daemon.cli("start", `${folder.path}/procsup.config.ts`);
  assertEquals(started.code, 0, started.stderr);
  for (const name of ["web:0", "web:1"]) {
    const { state, config } = await daemon.status(name);
    assertEquals([state, config.restart_policy], ["running", "always"]);
  }
});

Deno.test("client.md names every method that only the client has", () => {
  const methodsOf = ({ prototype }: { readonly prototype: object }) =>
    Object.getOwnPropertyNames(prototype);
  const [page] = Deno.readTextFileSync(`${ROOT}src/docs/client.md`).split(" exist only here.");
  const sentence = page!.slice(page!.lastIndexOf(". ")).replaceAll("`", "");
  const shared = new Set([Manager, ProcessHost].flatMap(methodsOf));
  const own = methodsOf(Client).filter((name) => !shared.has(name));
  assertEquals(sentence.match(/\b[a-z]\w+(?=,| and|$)/gi)?.sort(), own.sort());
});
