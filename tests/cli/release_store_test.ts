/** The releases of an app on the disk. */

import { assertEquals, assertRejects } from "@std/assert";
import { ReleaseStore } from "../../src/cli/release/release_store.ts";
import { ProcsupError } from "../../src/model/errors.ts";
import { tempHome } from "../support/temp_home.ts";

Deno.test("ReleaseStore makes no release whose folder would not be taken for one", async () => {
  await using home = tempHome();
  const store = new ReleaseStore(home.path, undefined);
  assertEquals(await store.create(), 1);
  // A number that the app's user made up.
  Deno.writeTextFileSync(`${home.path}/releases/999999999.json`, "{}");
  const error = await assertRejects(
    () => store.create(),
    ProcsupError,
    "a release after 999999999",
  );
  assertEquals(error.code, "wrong_state");
  assertEquals(error.hint?.text, `Remove what has that number in ${home.path}/releases`);
});

Deno.test("ReleaseStore tells when it cannot keep the output, and goes on", async () => {
  await using home = tempHome();
  const store = new ReleaseStore(home.path, undefined);
  const release = await store.create();
  Deno.mkdirSync(`${store.folder(release)}.log`);
  const shown: string[] = [];
  const { writeSync } = Deno.stderr;
  Deno.stderr.writeSync = (bytes) => (shown.push(new TextDecoder().decode(bytes)), bytes.length);
  try {
    await using log = store.output(release);
    // More than the pipe of a program that has ended takes.
    for (let part = 0; part < 4; part++) await log.write(new Uint8Array(64 * 1024).fill(10));
  } finally {
    Deno.stderr.writeSync = writeSync;
  }
  assertEquals(
    shown.at(-1)!.startsWith(`Not all of the output is in ${home.path}/releases/1.log: `),
    true,
  );
});
