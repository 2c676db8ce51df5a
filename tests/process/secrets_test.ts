/** Secrets, fetched where they are. */

import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { ProcsupError } from "../../src/model/errors.ts";
import type { SecretSource } from "../../src/model/process_config.ts";
import { type SecretAge, secretVariables } from "../../src/process/secrets.ts";
import { tempHome } from "../support/temp_home.ts";

const INHERITED = { PATH: "/usr/bin:/bin", TOKEN: "t0ken" };

function secret(source: SecretSource, cwd = "/", age: SecretAge = "fresh"): string | undefined {
  return secretVariables({ name: "api", cwd, secrets: { A: source } }, INHERITED, age).A;
}

Deno.test("secretVariables() fetches from variable, file and command, less the last newline", async () => {
  await using home = tempHome();
  Deno.writeTextFileSync(`${home.path}/key`, "two\nlines\n");
  assertEquals(secret({ env: "TOKEN" }), "t0ken");
  assertEquals(secret({ file: "key" }, home.path), "two\nlines");
  assertEquals(secret({ command: "cat key" }, home.path), "two\nlines");
});

Deno.test("secretVariables() runs a command once for a start, and not again for its hooks", async () => {
  await using home = tempHome();
  const command = { command: "date +%N >> count; wc -l < count" };
  assertEquals(secret(command, home.path, "known")?.trim(), "1");
  assertEquals(secret(command, home.path, "known")?.trim(), "1");
  assertEquals(secret(command, home.path)?.trim(), "1");
});

Deno.test("secretVariables() names what is missing, and nothing of what there is", () => {
  const refusal = (source: SecretSource) =>
    assertThrows(() => secret(source), ProcsupError).message;
  assertMatch(
    refusal({ env: "NOT_SET" }),
    /^Cannot start "api": secret "A": the variable "NOT_SET"/,
  );
  assertMatch(refusal({ file: "/nowhere" }), /secret "A": the file "\/nowhere" cannot be read/);
  assertEquals(
    refusal({ command: "echo s3cret; echo s3cret >&2; exit 3" }),
    'Cannot start "api": secret "A": its command ended with exit code 3',
  );
});
