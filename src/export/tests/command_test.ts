import { assertEquals, assertStringIncludes } from "@std/assert";
import { cli } from "../../../tests/support/procsup.ts";
import { tempHome } from "../../../tests/support/temp_home.ts";

const FILE = `processes:
  api: { command: sleep 1000, watch: true, env: { COLOR: blue } }
`;

Deno.test("procsup export prints files and reports what is lost, and writes nothing with --strict", async () => {
  await using folder = tempHome();
  const file = `${folder.path}/procsup.yaml`;
  Deno.writeTextFileSync(file, FILE);
  const run = (...words: string[]) => cli(`${folder.path}/h`, "export", ...words);
  const printed = await run("kubernetes", file, "--image", "shop:1");
  assertEquals(printed.code, 0);
  assertStringIncludes(printed.stdout, 'image: "shop:1"');
  assertStringIncludes(printed.stdout, "# No counterpart: api: watch:");
  assertStringIncludes(printed.stderr, "no counterpart: api: watch:");
  const strict = await run("swarm", file, "--strict", "--out", `${folder.path}/deploy`);
  assertEquals(strict.code, 2);
  assertStringIncludes(strict.stderr, "1 key has no counterpart on swarm");
  assertEquals([...Deno.readDirSync(folder.path)].some(({ name }) => name === "deploy"), false);
  assertEquals((await run("systemd", file, "--out", `${folder.path}/units`)).code, 0);
  const names = [...Deno.readDirSync(`${folder.path}/units`)].map(({ name }) => name);
  assertEquals(names.filter((name) => name.endsWith("_api.service")).length, 1);
  const useless = await run("systemd", file, "--image", "shop:1");
  assertEquals(useless.code, 2);
  assertStringIncludes(useless.stderr, "Cannot use --image for systemd");
  const words = ["image", file, "--tag", "shop:1", "--program", `${folder.path}/none`];
  const missing = await cli(`${folder.path}/h`, ...words);
  assertEquals(missing.code, 2);
  assertStringIncludes(missing.stderr, "/none: no such file");
  const wrong = await run("kubernets");
  assertEquals(wrong.code, 2);
  assertStringIncludes(wrong.stderr, "procsup export kubernetes");
});
