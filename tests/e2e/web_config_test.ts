/** The `web` section of a configuration file, in the real program. */

import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { freePort } from "../support/http_load.ts";
import { TestDaemon } from "../support/procsup.ts";
import { waitFor } from "../support/wait_for.ts";
import { TestFeed, TestWeb } from "../support/web.ts";

/** A daemon with a configuration file that sets its web listener. */
class WebFile implements AsyncDisposable {
  readonly daemon: TestDaemon;

  constructor(daemon: TestDaemon) {
    this.daemon = daemon;
  }

  get path(): string {
    return `${this.daemon.home}/procsup.yaml`;
  }

  /** Writes the `web` section and one process. */
  write(web: string, words = "1000"): void {
    const said = web === "" ? "" : `web: ${web}\n`;
    const app = `processes: { app: { entrypoint: sleep, args: ["${words}"], min_uptime: 50ms } }\n`;
    Deno.writeTextFileSync(this.path, said + app);
  }

  apply(options: { prune?: boolean } = {}) {
    return this.daemon.client.call("config_reload", { config_path: this.path, ...options });
  }

  /** The status of `/livez` on a port with that Host; undefined if nothing listens. */
  async asks(port: number, host = "localhost"): Promise<number | undefined> {
    const head = `GET /livez HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`;
    try {
      using connection = await Deno.connect({ port });
      await connection.write(new TextEncoder().encode(head));
      return Number((await new Response(connection.readable).text()).split(" ")[1]);
    } catch (error) {
      if (error instanceof Deno.errors.ConnectionRefused) return undefined;
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.daemon[Symbol.asyncDispose]();
  }
}

Deno.test("web of a file starts, stays, moves, and keeps its port when the new one is taken", async () => {
  await using file = new WebFile(await TestDaemon.start());
  const { daemon } = file;
  const [a, b] = [freePort(), freePort()];
  file.write(`{ listen: "127.0.0.1:${a}" }`);
  const plan = await daemon.cli("config", "plan", file.path);
  assertEquals(plan.stdout, `+ web  listen set to "127.0.0.1:${a}"\n+ app  new\n`);
  assertEquals(await file.asks(a), undefined);
  const started = await daemon.cli("start", file.path);
  assertEquals(started.code, 0, started.stderr);
  assertMatch(started.stderr, new RegExp(`^web: listen set to "127.0.0.1:${a}"$`, "m"));
  assertEquals(await file.asks(a), 200);

  const { token } = await daemon.client.call("token");
  const headers = { authorization: `Bearer ${token}` };
  using feed = new TestFeed(new WebSocket(`ws://127.0.0.1:${a}/ws`, { headers }));
  await feed.opened;
  const same = await file.apply();
  assertEquals([same.settings, same.errors], [
    [{ name: "web", change: "unchanged", fields: [] }],
    [],
  ]);
  await daemon.client.call("restart", "app");
  await waitFor(() => feed.of("process_list").length > 1, { what: "the feed to go on" });
  assertEquals(feed.closed, undefined);

  file.write(`{ listen: "127.0.0.1:${b}" }`);
  const moved = await daemon.cli("up", file.path);
  assertEquals([moved.code, moved.stdout, moved.stderr], [
    ...[0, ""],
    `web: listen "127.0.0.1:${a}" → "127.0.0.1:${b}"\n`,
  ]);
  assertEquals([await file.asks(a), await file.asks(b)], [undefined, 200]);

  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = taken.addr;
  file.write(`{ listen: "127.0.0.1:${port}" }`, "2000");
  const refused = await daemon.cli("up", file.path);
  assertEquals(refused.code, 1);
  assertMatch(refused.stderr, new RegExp(`Cannot listen on "127.0.0.1:${port}": another program`));
  assertEquals(await file.asks(b), 200);
  assertEquals((await daemon.status("app")).config.args, ["2000"]);

  await daemon.kill();
  await daemon.run();
  await waitFor(async () => await file.asks(b) === 200, { what: "the next daemon to listen" });
  taken.close();
  Deno.kill(daemon.pid, "SIGHUP");
  await waitFor(async () => await file.asks(port) === 200, { what: "SIGHUP to move it" });
  await waitFor(async () => await file.asks(b) === undefined, { what: "the old one to go" });
  await waitFor(() => /unchanged, web changed/.test(log(daemon)), { what: "the log to tell" });
});

Deno.test("web of a file changes its names in place, and is removed only with prune", async () => {
  await using file = new WebFile(await TestDaemon.start());
  const { daemon } = file;
  const at = async () => Number((await daemon.client.call("web_status")).addr.split(":")[1]);
  file.write('{ listen: "127.0.0.1:0" }');
  await file.apply();
  const port = await at();
  assertEquals(await file.asks(port, "box.lan"), 403);
  file.write('{ listen: "127.0.0.1:0", hosts: [box.lan], max_clients: 10 }');
  const changed = await file.apply();
  assertEquals(changed.settings[0]!.fields, [
    { field: "hosts", from: [], to: ["box.lan"] },
    { field: "max_clients", from: 256, to: 10 },
  ]);
  assertEquals([await at(), await file.asks(port, "box.lan")], [port, 200]);

  // A manual change holds until the file is applied again.
  await daemon.client.call("web_stop");
  const back = await file.apply();
  assertEquals([back.settings[0]!.change, await at() > 0], ["added", true]);

  const other = `${daemon.home}/other.yaml`;
  Deno.writeTextFileSync(other, 'web: { listen: "127.0.0.1:0" }\n');
  const fight = await daemon.cli("up", other);
  assertEquals(fight.code, 6);
  assertMatch(fight.stderr, /"web" comes from ".*\/procsup\.yaml"/);
  const part = await daemon.client.call("config_reload", { config_path: file.path, only: "app" });
  assertEquals(part.settings, []);

  file.write("");
  const kept = await daemon.cli("up", file.path);
  assertMatch(kept.stderr, /^web: not in file \(kept; use --prune to remove\)$/m);
  assert(await at() > 0);
  const pruned = await file.apply({ prune: true });
  assertEquals(pruned.settings, [{ name: "web", change: "removed", fields: [] }]);
  assertEquals((await daemon.client.call("web_status")).status, "stopped");
  assertEquals((await file.apply()).settings, []);

  // What the file brought goes with it, and what was set by hand stays.
  await daemon.client.call("web_start", { listen: "127.0.0.1:0" });
  await daemon.client.call("config_delete", file.path);
  assert(await at() > 0);
  file.write('{ listen: "127.0.0.1:0" }\nwebhooks: { chat: { url: "http://127.0.0.1:8099/" } }');
  await file.apply();
  await daemon.client.call("config_delete", { config_path: file.path, only: "app" });
  assert(await at() > 0);
  await daemon.client.call("config_delete", file.path);
  assertEquals((await daemon.client.call("web_status")).status, "stopped");
  assertEquals(await daemon.client.call("webhook_list"), []);
});

Deno.test("an invalid web section changes nothing, from any surface", async () => {
  await using daemon = await TestDaemon.start();
  const bad: readonly [unknown, RegExp][] = [
    [{ listen: "nowhere" }, /invalid "web\.listen" "nowhere": expected "host:port"/],
    [{ listen: "127.0.0.1:99999" }, /expected a port up to 65535/],
    [{ listen: "0.0.0.0:0" }, /cannot listen on "0\.0\.0\.0:0": other machines can reach it/],
    [{ lisen: "127.0.0.1:0" }, /unknown key "web\.lisen": did you mean "listen"\?/],
    [{ hosts: ["a b"] }, /invalid "web\.hosts\.0" "a b": expected the name of a host/],
    [{ max_clients: 0 }, /invalid "web\.max_clients" 0/],
    ["127.0.0.1:1", /web: expected a map/],
  ];
  const app = { entrypoint: "sleep", args: ["1000"] };
  for (const [web, message] of bad) {
    const config = { web, processes: { app } };
    const error = await assertRejects(() => daemon.client.call("start_all", { config }), Error);
    assertMatch(error.message, message);
  }
  assertEquals((await daemon.client.call("list")).length, 0);
  assertEquals((await daemon.client.call("web_status")).status, "stopped");
  const config = { web: { listen: "127.0.0.1:0" } };
  const { settings } = await daemon.client.call("start_all", { config });
  assertEquals(settings.map(({ name, change }) => [name, change]), [["web", "added"]]);
});

Deno.test("web is changed and stopped through itself, and still answers that request", async () => {
  await using web = await TestWeb.start();
  const { port, daemon } = web;
  const apply = (settings: Record<string, unknown>) =>
    web.ask("POST", "/api/v1/config/start", { config: { processes: {}, web: settings } });
  const fieldsOf = ({ body }: { body: { settings: { fields: { field: string }[] }[] } }) =>
    body.settings.flatMap(({ fields }) => fields.map(({ field }) => field));
  using feed = await web.feed();
  const inPlace = await apply({ listen: `127.0.0.1:${port}`, hosts: ["box.lan"] });
  assertEquals([inPlace.status, fieldsOf(inPlace)], [200, ["hosts"]]);
  assertEquals(inPlace.headers.get("connection"), "close");
  await waitFor(() => feed.closed !== undefined, { what: "the others to be sent away" });
  const next = freePort();
  const moved = await apply({ listen: `127.0.0.1:${next}` });
  assertEquals([moved.status, fieldsOf(moved)], [200, ["listen", "hosts"]]);
  await assertRejects(() => web.ask("GET", "/livez"));

  const url = `http://127.0.0.1:${next}/api/v1/config/reload`;
  const headers = { authorization: `Bearer ${web.token}`, "content-type": "application/json" };
  const path = `${daemon.home}/procsup.yaml`;
  Deno.writeTextFileSync(path, `web: { listen: "127.0.0.1:${next}" }\n`);
  await daemon.client.call("config_reload", { config_path: path });
  Deno.writeTextFileSync(path, "processes: {}\n");
  const body = JSON.stringify({ config_path: path, prune: true });
  const stopped = await fetch(url, { method: "POST", headers, body });
  assertEquals((await stopped.json()).settings, [{ name: "web", change: "removed", fields: [] }]);
  await assertRejects(() => fetch(url));
});

function log({ home }: TestDaemon): string {
  return Deno.readTextFileSync(`${home}/daemon.log`);
}
