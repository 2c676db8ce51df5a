/** The `run` section of configuration files. */

import { assertEquals } from "@std/assert";
import { Files, mistakes } from "./files.ts";

const APPS = "processes:\n  web: { entrypoint: sleep }\n  db: { entrypoint: sleep }\n";

Deno.test("loadConfig() uses the critical names of the last file or profile that has any", async () => {
  await using files = new Files({
    "one.yaml": `${APPS}run: { critical: web }\nprofiles: { dev: { run: { critical: [] } } }\n`,
    "two.yaml": "run: { critical: [web, db] }\n",
    "none.yaml": APPS,
  });
  const critical = async (names: string[], profile?: string) =>
    (await files.load(names, profile === undefined ? {} : { profile })).run.critical;
  assertEquals(await critical(["one.yaml"]), ["web"]);
  assertEquals(await critical(["one.yaml", "two.yaml"]), ["web", "db"]);
  assertEquals(await critical(["one.yaml"], "dev"), []);
  assertEquals(await critical(["none.yaml"]), []);
});

Deno.test("loadConfig() rejects unknown names and other keys in run", async () => {
  assertEquals(
    await mistakes("procsup.yaml", `${APPS}run: { critical: [web, wbe], crtical: 1 }\n`),
    [
      '4:30: unknown key "run.crtical": did you mean "critical"?',
      '4:24: "run.critical" names "wbe", which is not in the file: did you mean "web"?',
    ],
  );
  assertEquals(await mistakes("procsup.yaml", `${APPS}run: web\n`), ["4:6: run: expected a map"]);
});

Deno.test("loadConfig() explains where critical belongs when a process has it", async () => {
  const text = "processes:\n  web: { entrypoint: sleep, critical: true }\n";
  assertEquals(await mistakes("procsup.yaml", text), [
    '2:29: "web": unknown key "critical": write it under "run": run: { critical: [web] }',
  ]);
});
