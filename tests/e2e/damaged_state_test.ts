/**
 * One damaged bit in any file of the home: the daemon starts, keeps every app, and admits no
 * intruder.
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { walkSync } from "@std/fs/walk";
import { flip } from "../support/damage.ts";
import { TestDaemon } from "../support/procsup.ts";
import { Receiver } from "../support/receiver.ts";
import { waitFor } from "../support/wait_for.ts";

/** The state files below a folder, without logs and files that wrappers write. */
function stateFiles(home: string): string[] {
  const skip = [new RegExp(`^${home}/(apps|run)$`), /\.log[^/]*$|\.lock$|unreadable[^/]*$/];
  return [...walkSync(home, { skip })].filter(({ isFile }) => isFile).map(({ path }) => path)
    .sort();
}

const isCopy = (path: string) => path.endsWith(".copy");

Deno.test("daemon starts, keeps its apps and admits no intruder when its state files are damaged", async () => {
  await using receiver = new Receiver();
  await using daemon = await TestDaemon.start();
  await daemon.startScript("app", "exec sleep 1000");
  await daemon.startScript("job", "true", { cron: { schedule: "0 0 1 1 *" } });
  await daemon.client.call("cron_stop", "job");
  await daemon.cli("save");
  const config = `${daemon.home}/procsup.yaml`;
  Deno.writeTextFileSync(
    config,
    `webhooks: [{ name: hook, url: "${receiver.url}" }]\n` +
      "processes: [{ name: filed, entrypoint: /bin/sleep, args: ['1000'], cwd: / }]\n",
  );
  assertEquals((await daemon.cli("up", config)).code, 0);
  Deno.removeSync(config);
  await daemon.client.call("token_create", { name: "ci", role: "read" });
  const gone = await daemon.client.call("token_create", { name: "gone", role: "admin" });
  await daemon.client.call("token_revoke", { name: "gone" });
  await waitFor(async () => (await daemon.status("filed")).pid > 0);
  const apps = async () =>
    (await daemon.client.call("list")).map(({ name, pid, state }) => [name, pid, state]).sort();
  const listed = await apps();
  const tokens = async () => (await daemon.client.call("token_list")).map(({ name }) => name);

  // Damage to either a file or its copy loses nothing, nor does the one after the other.
  for (const damaged of [isCopy, (path: string) => !isCopy(path)]) {
    await daemon.terminate();
    const files = stateFiles(daemon.home).filter(damaged);
    assert(files.length > 6, files.join(" "));
    for (const path of files) flip(path, Math.floor(Deno.statSync(path).size / 2) * 8 + 1);
    await daemon.run();
    assertEquals(await apps(), listed);
    assertEquals((await daemon.client.call("cron_list"))[0]?.enabled, false);
    assertEquals(await tokens(), ["ci"]);
    assertEquals((await daemon.client.call("web_status")).status, "stopped");
    assertEquals((await daemon.client.call("webhook_list")).map(({ name }) => name), ["hook"]);
    const plan = await daemon.client.call("config_reload", { dry_run: true }).catch((e) => e);
    assertStringIncludes(String(plan.message), config, "it knows which file it was");
    assertMatch((await daemon.cli("events", "--since", "1h")).stdout, /app/);
  }

  // With both damaged, unknown state counts as empty and is reported.
  await daemon.terminate();
  for (const path of stateFiles(daemon.home)) Deno.writeTextFileSync(path, "null");
  await daemon.run();
  const now = (await apps()).filter(([, , state]) => state === "running");
  assertEquals(now, listed.filter(([, , state]) => state === "running"));
  assertEquals(await tokens(), []);
  const path = `${daemon.home}/procsup.sock`;
  using client = Deno.createHttpClient({ proxy: { transport: "unix", path } });
  const asked = await fetch("http://procsup/api/v1/processes", {
    client,
    headers: { authorization: `Bearer ${gone.token}` },
  });
  await asked.body?.cancel();
  assertEquals(asked.status, 401);
  const { stdout } = await daemon.cli("doctor");
  const log = Deno.readTextFileSync(`${daemon.home}/daemon.log`);
  for (const name of ["tokens.json", "configs.json", "webhooks.json", "boot"]) {
    assertMatch(stdout, new RegExp(`/${name}.unreadable was damaged`), name);
    assertMatch(log, new RegExp(`/${name}.unreadable`), name);
  }
});
