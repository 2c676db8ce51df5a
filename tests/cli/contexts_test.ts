/** The contexts file. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { cliIn } from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";

Deno.test("an invalid contexts file is rejected with the name of the invalid part", async () => {
  await using temp = tempHome();
  const env = { HOME: temp.path, XDG_CONFIG_HOME: temp.path };
  Deno.mkdirSync(`${temp.path}/procsup`, { mode: 0o700 });
  const wrong: Record<string, string> = {
    "{": "is not valid JSON",
    '{"contexts": {"web1": "user@server"}}': 'has no host and no engine for "web1"',
    '{"contexts": {"web1": null}}': 'has no host and no engine for "web1"',
    '{"contexts": {"web1": {"on": 5}}}': 'has no host and no engine for "web1"',
  };
  for (const [text, problem] of Object.entries(wrong)) {
    Deno.writeTextFileSync(`${temp.path}/procsup/contexts.json`, text, { mode: 0o600 });
    const { code, stderr } = await cliIn("", env, "context", "list");
    assertEquals(code, 2, stderr);
    assertStringIncludes(stderr, problem);
  }
  Deno.writeTextFileSync(`${temp.path}/procsup/contexts.json`, "null");
  assertEquals((await cliIn("", env, "context", "list", "-o", "name")).stdout, "local\n");
});
