/** Secrets, fetched from their sources. */

import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { ProcsupError } from "../../src/model/errors.ts";
import type { SecretSource } from "../../src/model/process_config.ts";
import { type SecretAge, Secrets } from "../../src/platform/launch/secrets.ts";
import { tempHome } from "../support/temp_home.ts";

const INHERITED = { PATH: "/usr/bin:/bin", TOKEN: "t0ken" };
const known = new Secrets(INHERITED);

async function secret(
  source: SecretSource,
  cwd = "/",
  age: SecretAge = "fresh",
): Promise<string | undefined> {
  const config = { name: "api", cwd, inheritEnv: true, secrets: { A: source } };
  await known.fetch(config, age);
  return known.variables(config).A;
}

Deno.test("Secrets fetches from variable, file and command, without the last newline", async () => {
  await using home = tempHome();
  Deno.writeTextFileSync(`${home.path}/key`, "two\nlines\n");
  assertEquals(await secret({ env: "TOKEN" }), "t0ken");
  assertEquals(await secret({ file: "key" }, home.path), "two\nlines");
  assertEquals(await secret({ command: "cat key" }, home.path), "two\nlines");
});

Deno.test("Secrets runs a command once for each start, and not again for hooks", async () => {
  await using home = tempHome();
  const command = { command: "date +%N >> count; wc -l < count" };
  assertEquals((await secret(command, home.path, "known"))?.trim(), "1");
  assertEquals((await secret(command, home.path, "known"))?.trim(), "1");
  assertEquals((await secret(command, home.path))?.trim(), "1");
});

Deno.test("Secrets runs a command again for the environment of another shell", async () => {
  const secretFor = async (WHO: string) => {
    const shellEnv = { PATH: "/usr/bin:/bin", WHO };
    const secrets = { A: { command: "echo $WHO" } };
    const config = { name: "api", cwd: "/", inheritEnv: true, shellEnv, secrets };
    await known.fetch(config, "fresh");
    return known.variables(config).A;
  };
  assertEquals([await secretFor("ann"), await secretFor("bob")], ["ann", "bob"]);
});

Deno.test("Secrets names the missing source, and quotes no secret or output", async () => {
  const refusal = async (source: SecretSource) =>
    (await assertRejects(() => secret(source), ProcsupError)).message;
  assertMatch(
    await refusal({ env: "NOT_SET" }),
    /^Cannot start "api": secret "A": the variable "NOT_SET"/,
  );
  assertMatch(
    await refusal({ file: "/nowhere" }),
    /secret "A": the file "\/nowhere" cannot be read/,
  );
  assertEquals(
    await refusal({ command: "echo s3cret; echo s3cret >&2; exit 3" }),
    'Cannot start "api": secret "A": its command ended with exit code 3',
  );
  assertEquals(
    await refusal({ command: "printf 'p\\374ss'" }),
    'Cannot start "api": secret "A": its command printed no text in UTF-8',
  );
});

Deno.test("Secrets.fetch() runs a command once for concurrent callers, without blocking", async () => {
  await using home = tempHome();
  const config = {
    ...{ name: "api", cwd: home.path, inheritEnv: true },
    secrets: { A: { command: "echo x >> count; sleep 0.3; wc -l < count" } },
  };
  let ticks = 0;
  const ticker = setInterval(() => ticks++, 10);
  const fetched = [1, 2, 3].map(() => known.fetch(config, "fresh"));
  await Promise.all(fetched);
  clearInterval(ticker);
  assertEquals(known.variables(config).A?.trim(), "1");
  assert(ticks > 3, `${ticks} turns were taken meanwhile`);
  assertEquals(known.fetch(config, "fresh"), undefined);
});

Deno.test("Secrets.hide() hides a value that contains another one", () => {
  const secrets = { A: { env: "SHORT" }, B: { env: "LONG" } };
  const config = { name: "api", cwd: "/", inheritEnv: true, secrets };
  const known = new Secrets({ SHORT: "abc", LONG: "abcdef" });
  assertEquals(known.hide("abcdef abc", config), "*** ***");
});
