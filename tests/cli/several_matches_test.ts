import { assertEquals } from "@std/assert";
import { ambiguous } from "../../src/model/target.ts";
import { FakeDaemon, fakeProcess } from "./fake_daemon.ts";

const API = [
  fakeProcess({ id: "aaaa0001", name: "api:0" }),
  fakeProcess({ id: "aaaa0002", name: "api:1", numeric_id: 1, state: "stopped", pid: 0 }),
];
const JOB = fakeProcess({
  id: "bbbb0003",
  name: "nightly",
  numeric_id: 2,
  state: "stopped",
  pid: 0,
  config: { name: "nightly", entrypoint: "/srv/n.sh", cron: { schedule: "0 3 * * *" } },
});

function one(payload: unknown): typeof API[number] {
  const { target } = payload as { target: string };
  const found = API.find(({ name }) => name === target);
  if (found === undefined) throw ambiguous(target, API);
  return found;
}

Deno.test("procsup status prints every process that matches the target; the worst exit code wins", async () => {
  await using daemon = new FakeDaemon({ status: one, list: () => [...API, JOB] });
  const [text, list, mixed, json, prefix] = await Promise.all([
    daemon.run("status", "api"),
    daemon.run("status", "api", "--json"),
    daemon.run("status", "api:0", "aaaa", "--json"),
    daemon.run("status", "api", "-o", "jsonl"),
    daemon.run("status", "aaaa"),
  ]);
  assertEquals(text.code, 3);
  assertEquals(text.stdout.match(/^name: .*$/gm), ["name:       api:0", "name:       api:1"]);
  assertEquals(text.stdout.split("\n\n").length, 2);
  assertEquals(JSON.parse(list.stdout).length, 2);
  assertEquals([mixed.code, JSON.parse(mixed.stdout).name], [6, "api:0"]);
  const names = json.stdout.trimEnd().split("\n").map((line) => JSON.parse(line).name);
  assertEquals(names, ["api:0", "api:1"]);
  assertEquals([prefix.code, prefix.stdout], [6, ""]);
});

Deno.test("list and status print process ids with -o pid, and exit with 3 when none runs", async () => {
  await using daemon = new FakeDaemon({ status: one, list: () => [...API, JOB] });
  const [up, down] = [API[0]!.name, API[1]!.name];
  const [running, stopped, all, job, other] = await Promise.all([
    daemon.run("status", up, "-o", "pid"),
    daemon.run("status", down, "-o", "pid"),
    daemon.run("list", "-o", "pid"),
    daemon.run("list", JOB.name, "-o", "pid"),
    daemon.run("stop", up, "-o", "pid"),
  ]);
  const pid = `${API[0]!.pid}\n`;
  assertEquals([running.code, running.stdout], [0, pid]);
  assertEquals([stopped.code, stopped.stdout], [3, ""]);
  assertEquals([all.code, all.stdout], [0, pid]);
  assertEquals([job.code, job.stdout], [3, ""]);
  assertEquals([other.code, other.stderr.split("\n")[0]], [
    2,
    'error: Cannot use -o pid with "stop": it prints no process ids',
  ]);
});

Deno.test("procsup why explains every process that matches the target", async () => {
  const why = (payload: unknown) => {
    const process = one(payload);
    return {
      process,
      reasons: [`${process.name} is ${process.state}`],
      last_output: [],
      hints: [],
    };
  };
  await using daemon = new FakeDaemon({ why, list: () => API });
  const [{ code, stdout }, json] = await Promise.all([
    daemon.run("why", "api"),
    daemon.run("why", "api", "--json"),
  ]);
  assertEquals(JSON.parse(json.stdout).length, 2);
  assertEquals([code, stdout], [0, "api:0 is running\n\napi:1 is stopped\n"]);
});

Deno.test("procsup list prints only the targets, and marks jobs", async () => {
  await using daemon = new FakeDaemon({ list: () => [...API, JOB] });
  const [names, table, none] = await Promise.all([
    daemon.run("list", "nightly", "api:1", "-o", "name"),
    daemon.run("list", "nightly"),
    daemon.run("list", "nightli"),
  ]);
  assertEquals(names.stdout, "api:1\nnightly\n");
  assertEquals(table.stdout.includes("stopped (cron)"), true);
  assertEquals(table.stdout.includes("api"), false);
  assertEquals([none.code, none.stdout], [4, ""]);
});

Deno.test("procsup scale prints what was added and removed", async () => {
  const result = { id: "a", ok: true, state: "stopped", pid: 0 };
  const scaled = (names: readonly string[], more = {}) => () => ({
    status: "scaled",
    results: names.map((name) => ({ ...result, name, ...more })),
  });
  await using down = new FakeDaemon({ scale: scaled(["api:2", "api:3"], { deleted: true }) });
  assertEquals(
    (await down.run("scale", "api", "2")).stdout,
    "✔ api:2  deleted\n✔ api:3  deleted\n",
  );
  assertEquals(
    JSON.parse((await down.run("scale", "api", "-2", "--json")).stdout).status,
    "scaled",
  );
  await using up = new FakeDaemon({ scale: scaled(["api:2"]) });
  assertEquals((await up.run("scale", "api", "3")).stdout, "✔ api:2  stopped\n");
  assertEquals((await up.run("scale", "api", "+1")).stdout, "✔ api:2  stopped\n");
});

Deno.test("a failure of a deleted process comes without advice to look at it", async () => {
  const result = { id: "a", state: "stopped", pid: 0, ok: false, code: "wrong_state", error: "no" };
  const results = [{ ...result, name: "api:0", deleted: true }, { ...result, name: "api:1" }];
  await using daemon = new FakeDaemon({ reload: () => ({ status: "reloaded", results }) });
  const { stderr, stdout } = await daemon.run("reload", "api");
  assertEquals([stderr + stdout].join().match(/procsup why \S+/g), ["procsup why api:1"]);
});

Deno.test("procsup signal explains the order of its arguments", async () => {
  await using daemon = new FakeDaemon({});
  const turned = await daemon.run("signal", "api", "worker", "hup");
  assertEquals(turned.code, 2);
  assertEquals(turned.stderr.split("\n")[1], "  hint: procsup signal hup api worker");
  const wrong = await daemon.run("signal", "HUPP", "api");
  assertEquals(wrong.stderr.includes("hint: procsup signal"), false);
  assertEquals(daemon.requests, []);
});
