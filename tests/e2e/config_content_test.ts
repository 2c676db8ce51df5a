/** `config_reload` with the text of a configuration, in the real program. */

import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { TestDaemon } from "../support/procsup.ts";

const daemon = TestDaemon.ofFile();

const FILE = "/srv/shop/procsup.yaml";
const APP = "{ entrypoint: /bin/sleep, args: ['1000'], cwd: /, min_uptime: 50ms }";

Deno.test("config_reload plans and applies a text like a file, and remembers no file", async () => {
  const reload = (text: string, more = {}) =>
    daemon.client.call("config_reload", { content: { file: FILE, text }, ...more });
  const one = `processes:\n  one: ${APP}\n`;
  const planned = await reload(one, { dry_run: true });
  assertEquals([planned.status, planned.added], ["planned", ["one"]]);
  assertEquals(await daemon.client.call("list"), []);
  const done = await reload(one, { wait: true });
  assertEquals([done.status, done.results.map(({ name, ok }) => [name, ok])], [
    "reloaded",
    [["one", true]],
  ]);
  const toml = "[processes.two]\nentrypoint = '/bin/sleep'\nargs = ['1000']\ncwd = '/'\n";
  const other = await daemon.client.call("config_reload", {
    content: { file: "/srv/two.toml", text: toml },
    dry_run: true,
  });
  assertEquals([other.added, other.removed, other.kept], [["two"], [], []]);
  await assertRejects(
    () => daemon.client.call("config_reload", {}),
    Error,
    "No configuration file",
  );
});

Deno.test("config_reload gives the position of a mistake in a text, and runs no program from it", async () => {
  const reload = (file: string, text: string) =>
    daemon.client.call("config_reload", { content: { file, text } });
  const error = await assertRejects(
    () => reload(FILE, `processes:\n  one: ${APP}\n  two: { entrypont: x }\n`),
    Error,
  );
  assertMatch(error.message, /procsup\.yaml:3/);
  assertMatch(error.message, /entrypoint/);
  await assertRejects(() => reload("/x/procsup.config.ts", "Deno.exit()"), Error, "program");
  await assertRejects(() => reload("relative.yaml", "{}"), Error, 'must start with "/"');
  assertEquals(await daemon.client.call("list"), []);
});
