/** Importing `defineConfig` by the package's name, in folders without procsup. */

import { assertEquals, assertMatch } from "@std/assert";
import { runModule } from "../../src/config/read_module.ts";
import { cli } from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";

const ENTRY = import.meta.resolve("../../src/config_entry.ts");

/** Runs a `procsup.config.ts` that imports `defineConfig` from there. */
async function given(folder: string, from: string): Promise<unknown> {
  await Deno.writeTextFile(
    `${folder}/procsup.config.ts`,
    `import { defineConfig } from "${from}";
     import { entry } from "own/entry.ts";
     export default defineConfig({ processes: { api: { script: entry } } });`,
  );
  return (await runModule(`${folder}/procsup.config.ts`, {})).value;
}

Deno.test("runModule() resolves defineConfig by path and by every spelling of the package's name", async () => {
  await using home = tempHome();
  await Deno.mkdir(`${home.path}/library`);
  await Deno.writeTextFile(`${home.path}/library/entry.ts`, 'export const entry = "api.ts";');
  await Deno.mkdir(`${home.path}/app`);
  const names = ["@procsup/procsup/config", "jsr:@procsup/procsup@^0.1.0/config", ENTRY];
  // The folder's own import map still applies, wherever it is.
  const maps: readonly Record<string, string>[] = [
    {
      "deno.jsonc":
        '{ // as `deno add` leaves it\n "imports": { "@procsup/procsup": "jsr:@procsup/procsup@^0.1.0", "own/": "../library/", }, }',
    },
    {
      "deno.json": '{ "importMap": "./maps/imports.json" }',
      "maps/imports.json": '{ "imports": { "own/": "../../library/" } }',
    },
    {
      "deno.json": '{ "importMap": "./maps/imports.json" }',
      "maps/imports.json": '{ "scopes": { "../": { "own/": "../../library/" } } }',
    },
  ];
  for (const files of maps) {
    await Deno.mkdir(`${home.path}/app/maps`, { recursive: true });
    for (const [name, text] of Object.entries(files)) {
      await Deno.writeTextFile(`${home.path}/app/${name}`, text);
    }
    for (const name of names) {
      assertEquals(await given(`${home.path}/app`, name), {
        processes: { api: { script: "api.ts" } },
      }, `${name} with ${Object.keys(files)[0]}`);
    }
  }
});

Deno.test("runModule() states what a module may import when it imports something else", async () => {
  await using home = tempHome();
  const file = `${home.path}/procsup.config.ts`;
  const wanted = {
    "@procsup/procsup": /"@procsup\/procsup" not a dependency/,
    "npm:zod@4": /--no-npm/,
    "https://example.com/x.ts": /import access/,
  };
  for (const [name, why] of Object.entries(wanted)) {
    await Deno.writeTextFile(file, `import "${name}"; export default {};`);
    const error = await runModule(file, {}).then(() => "worked", (error) => error.message);
    assertMatch(error, why);
    assertMatch(error, /[^.]: a configuration may import .*@procsup\/procsup\/config$/);
  }
});

Deno.test("procsup config validate reads a module that imports defineConfig in a folder without an import map", async () => {
  await using home = tempHome();
  const file = `${home.path}/procsup.config.ts`;
  await Deno.writeTextFile(
    file,
    `import { defineConfig } from "@procsup/procsup/config";
     export default defineConfig({ processes: { api: { script: "/bin/sleep", args: ["9"] } } });`,
  );
  const { code, stdout, stderr } = await cli(home.path, "config", "validate", file);
  assertEquals(code, 0, stderr);
  assertMatch(stdout, /1 process, no mistake/);
});
