/** Whatever is wrong is said in one clear error, and the daemon lives on. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { cli, TestDaemon } from "../support/procsup.ts";
import { type TempHome, tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";

const ASLEEP = ["--no-wait", "--", "sleep", "1000"];
const LONG = "x".repeat(300);

/** A command line, its exit code, and what its error says. */
type Case = readonly [args: readonly string[], code: number, says: RegExp];

const WRONG_WORDS: readonly Case[] = [
  [["frobnicate"], 2, /Unknown command "frobnicate"/],
  [["lst"], 2, /Unknown command "lst"[^]*Did you mean "procsup list"/],
  [["list", "--frob"], 2, /Unknown flag "--frob"/],
  [["start", "--nmae", "x", "--", "true"], 2, /Unknown flag "--nmae"[^]*"--name"/],
  [["start", "-i", "0", ...ASLEEP], 2, /"0" for --instances/],
  [["start", "--max-restarts", "many", ...ASLEEP], 2, /"many" for --max-restarts/],
  [["start", "--runtime", "cobol", ...ASLEEP], 2, /"cobol" for --runtime/],
  [["start", "--stop-signal", "SIGFROB", ...ASLEEP], 2, /SIGFROB/],
  [["start", "--stop-timeout", "soon", ...ASLEEP], 2, /stop_timeout" "soon"/],
  [["start"], 2, /Nothing to start/],
  [["stop"], 2, /Too few words/],
  [["list", "app"], 2, /Unexpected word "app"/],
];

const WRONG_TARGETS: readonly Case[] = [
  [["stop", "nobody"], 4, /Process not found/],
  [["status", "nobody"], 4, /Process not found/],
  [["restart", "99"], 4, /Process not found/],
  [["delete", "../../etc/passwd"], 4, /Process not found/],
  [["start", "nobody"], 4, /Process not found/],
  [["stop", "api"], 0, /^$/],
  [["stop", "tag:none"], 4, /Process not found/],
  [["signal", "SIGFROB", "api:0"], 2, /SIGFROB/],
  [["status", "api"], 6, /api:0[^]*api:1/],
];

const WRONG_ENTRYPOINTS: readonly Case[] = [
  [["start", "/nowhere/app.sh"], 2, /entrypoint "\/nowhere\/app\.sh" does not exist/],
  [["start", "--name", "x", "--", "no-such-command"], 2, /"no-such-command" does not exist/],
  [["start", "/etc/passwd", "--cwd", "/usr"], 2, /"\/etc\/passwd" is not executable/],
  [["start", "/etc/passwd", "--interpreter", "cobol"], 2, /"cobol" was not found on PATH/],
  [["start", "--cwd", "/nowhere", ...ASLEEP], 2, /cwd "\/nowhere" does not exist/],
];

const WRONG_NAMES: readonly Case[] = [
  ...["../../etc/passwd", "a/b", ".", "-rf", "a b", "a\nb", "ünï", "$(id)"].map((name): Case => [
    ["start", `--name=${name}`, ...ASLEEP],
    2,
    /must start with a letter or digit/,
  ]),
  [["start", "--name", "all", ...ASLEEP], 2, /is reserved/],
  [["start", "--name", "0", ...ASLEEP], 2, /all digits/],
  [["start", "--name", LONG, ...ASLEEP], 2, /300 characters/],
  [["start", "--name", "api", ...ASLEEP], 6, /The name "api" is taken/],
  [["start", "--namespace", "../..", ...ASLEEP], 2, /must start with a letter or digit/],
];

const GROUPS = { WRONG_WORDS, WRONG_TARGETS, WRONG_ENTRYPOINTS, WRONG_NAMES };

for (const [group, cases] of Object.entries(GROUPS)) {
  Deno.test(`command line refuses ${group.replace("_", " ").toLowerCase()}`, async () => {
    await using daemon = await TestDaemon.start();
    const idle = { name: "api", entrypoint: "/bin/sleep", args: ["1000"], cwd: "/", instances: 2 };
    await daemon.client.call("start", idle);
    for (const [args, code, says] of cases) {
      const result = await daemon.cli(...args);
      const shown = `procsup ${args.join(" ")}: ${JSON.stringify(result)}`;
      assertEquals(result.code, code, shown);
      assertMatch(result.stderr, says, shown);
      if (code !== 0) assertOneError(result.stderr, shown);
    }
    const names = (await daemon.client.call("list")).map(({ name }) => name);
    assertEquals(names, ["api:0", "api:1"], "nothing was added");
    const folders = [...Deno.readDirSync(`${daemon.home}/apps`)].map(({ name }) => name);
    assertEquals(folders.filter((name) => !/^[A-Za-z0-9]/.test(name)), []);
    const beside = [...Deno.readDirSync("/tmp")].map(({ name }) => name);
    assertEquals(beside.filter((name) => name === "passwd" || name === LONG), []);
  });
}

/** One message, no stack and no internals. */
function assertOneError(stderr: string, shown: string): void {
  const errors = stderr.match(/^(error: |✘ )/gm) ?? [];
  assertEquals(errors.length, 1, shown);
  assert(!/\bat (async )?(file|ext):|\.ts:\d+/.test(stderr), shown);
}

/** A body, or a header, that the socket must refuse. */
interface Request {
  readonly body: string;
  readonly path?: string;
  readonly token?: string;
  readonly method?: string;
}

const LIST = JSON.stringify({ action: "list" });
const start = (config: unknown) => JSON.stringify({ action: "start", payload: config });
const sleeper = { name: "x", entrypoint: "/bin/sleep", args: ["1000"], cwd: "/" };

const WRONG_REQUESTS: readonly (readonly [Request, status: number, says: RegExp])[] = [
  [{ body: "{" }, 400, /not JSON/],
  [{ body: "" }, 400, /"action"/],
  [{ body: "[]" }, 400, /"action"/],
  [{ body: "null" }, 400, /"action"/],
  [{ body: `{"action":"list","x":"${"y".repeat(1024 * 1024)}"}` }, 413, /1 MiB/],
  [{ body: LIST, token: "0".repeat(64) }, 401, /token/],
  [{ body: LIST, token: "" }, 401, /token/],
  [{ body: '{"action":"frobnicate"}' }, 400, /Unknown action "frobnicate"/],
  [{ body: '{"action":"__proto__"}' }, 400, /Unknown action/],
  [{ body: '{"action":"sotp"}' }, 400, /did you mean "stop"/],
  [{ body: '{"action":{}}' }, 400, /action/],
  [{ body: '{"action":"stop","payload":{"target":1}}' }, 400, /"target"/],
  [{ body: '{"action":"stop","payload":{"target":"x","forec":true}}' }, 400, /"forec".*"force"/],
  [{ body: '{"action":"stop","payload":"nobody"}' }, 404, /^process not found$/],
  [{ body: LIST, path: "/nowhere" }, 404, /No such path/],
  [{ body: start({}) }, 422, /"(name|entrypoint|cwd)"/],
  [{ body: start({ ...sleeper, nmae: "y" }) }, 422, /Unknown key "nmae".*"name"/],
  [{ body: start({ ...sleeper, runtime: "cobol" }) }, 422, /"runtime" "cobol"/],
  [{ body: start({ ...sleeper, stop_signal: "SIGFROB" }) }, 422, /SIGFROB/],
  [{ body: start({ ...sleeper, instances: 1e9 }) }, 422, /"instances"/],
  [{ body: start({ ...sleeper, env: { "A=B": "1" } }) }, 422, /env/],
  [{ body: start({ ...sleeper, env: { "": "1" } }) }, 422, /env/],
  [{ body: start({ ...sleeper, env: { "A\0B": "1" } }) }, 422, /env/],
  [{ body: start({ ...sleeper, env: { A: "1\x002" } }) }, 422, /env/],
  [{ body: start({ ...sleeper, args: ["a\0b"] }) }, 422, /args/],
  [{ body: start({ ...sleeper, entrypoint: "/bin/sl\0eep" }) }, 422, /entrypoint/],
  [{ body: start({ ...sleeper, cwd: "relative" }) }, 422, /cwd/],
  [{ body: start({ ...sleeper, name: "../../etc/passwd" }) }, 422, /"name"/],
  [{ body: '{"action":"start","payload":{"__proto__":{"x":1}}}' }, 422, /__proto__|"name"/],
];

Deno.test("daemon refuses wrong requests and lives on", async () => {
  await using daemon = await TestDaemon.start();
  // One for all: every 25th new one was seen to wait for 5 s before it connects.
  using client = Deno.createHttpClient({
    proxy: { transport: "unix", path: `${daemon.home}/procsup.sock` },
  });
  for (const [request, status, says] of WRONG_REQUESTS) {
    const shown = JSON.stringify(request).slice(0, 200);
    const answer = await post(client, daemon.home, request);
    assertEquals(answer.status, status, `${shown}: ${JSON.stringify(answer.envelope)}`);
    const { success, error, code } = answer.envelope;
    assertEquals(success, false, shown);
    assertMatch(error, says, shown);
    assertMatch(code, /^[a-z_]+$/, shown);
  }
  assertEquals(await daemon.client.call("list"), []);
  assertEquals(Object.hasOwn(Object.prototype, "x"), false);
});

async function post(
  client: Deno.HttpClient,
  home: string,
  { body, path = "/ipc", token, method = "POST" }: Request,
): Promise<{ status: number; envelope: { success: boolean; error: string; code: string } }> {
  const secret = token ?? Deno.readTextFileSync(`${home}/token`).trim();
  const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
  const response = await fetch(`http://procsup${path}`, { client, method, body, headers });
  return { status: response.status, envelope: await response.json() };
}

/** A home that is not safe to use: how it comes about, and what is said. */
interface BadHome {
  readonly what: string;
  readonly says: RegExp;
  readonly make: (folder: string) => string;
  readonly ignore?: boolean;
}

const BAD_HOMES: readonly BadHome[] = [
  {
    what: "a symbolic link",
    says: /symbolic link/,
    make(folder) {
      Deno.mkdirSync(`${folder}/real`, { mode: 0o700 });
      Deno.symlinkSync(`${folder}/real`, `${folder}/home`);
      return `${folder}/home`;
    },
  },
  {
    what: "a file",
    says: /not a directory|Cannot create/,
    make(folder) {
      Deno.writeTextFileSync(`${folder}/home`, "");
      return `${folder}/home`;
    },
  },
  {
    what: "another user's",
    says: /belongs to user 65534/,
    ignore: Deno.uid() !== 0,
    make(folder) {
      Deno.mkdirSync(`${folder}/home`, { mode: 0o700 });
      Deno.chownSync(`${folder}/home`, 65534, 65534);
      return `${folder}/home`;
    },
  },
  {
    what: "writable by others",
    says: /others may write/,
    make(folder) {
      Deno.mkdirSync(`${folder}/home`);
      Deno.chmodSync(`${folder}/home`, 0o777);
      return `${folder}/home`;
    },
  },
  {
    what: "too long a path for a socket",
    says: /bytes long/,
    make: (folder) => `${folder}/${"x".repeat(100)}`,
  },
];

for (const { what, says, make, ignore = false } of BAD_HOMES) {
  Deno.test(`a home that is ${what} is refused`, { ignore }, async () => {
    await using temp = tempHome();
    const home = make(temp.path);
    const before = filesBelow(temp.path);
    for (const args of [["daemon"], ["start", "--name", "x", ...ASLEEP]]) {
      const { code, stdout, stderr } = await cli(home, ...args);
      assertEquals([code, stdout], [2, ""], stderr);
      assertMatch(stderr, says);
      assertOneError(stderr, stderr);
    }
    assertEquals(filesBelow(temp.path), before);
  });
}

function filesBelow(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) => {
    const path = `${folder}/${name}`;
    return isDirectory ? [path, ...filesBelow(path)] : [path];
  }).toSorted();
}

Deno.test("daemon starts over records that cannot be read, and sets them aside", async () => {
  await using daemon = await TestDaemon.start();
  const { pid } = await daemon.startScript("good", "exec sleep 1000");
  await daemon.kill();
  const records = `${daemon.home}/state/processes`;
  // A daemon that is killed while it writes leaves a temporary file beside the whole one.
  const names = () =>
    [...Deno.readDirSync(records)].map(({ name }) => name).filter((name) => !name.endsWith(".tmp"));
  const [good] = names();
  const [text = ""] = (await Deno.readTextFile(`${records}/${good}`)).split("\n");
  const broken = {
    "empty": "",
    "truncated": text.slice(0, text.length / 2),
    "garbled": "\0\xff{]",
    "list": "[]",
    "null": "null",
    "wrong": JSON.stringify({ ...JSON.parse(text), config: { name: 1 } }),
  };
  for (const [name, content] of Object.entries(broken)) {
    await Deno.writeTextFile(`${records}/${name}.json`, content);
  }
  await daemon.run();
  const list = await daemon.client.call("list");
  assertEquals(list.map(({ name, pid, state }) => [name, pid, state]), [["good", pid, "running"]]);
  const after = names().toSorted();
  const aside = Object.keys(broken).map((name) => `${name}.json.unreadable`);
  assertEquals(after, [good!, ...aside].toSorted());
  const log = await Deno.readTextFile(`${daemon.home}/daemon.log`);
  for (const name of Object.keys(broken)) assertStringIncludes(log, `${name}.json`);
});

Deno.test("resurrect falls back on the saved list before one that cannot be read", async () => {
  await using daemon = await TestDaemon.start();
  await daemon.startScript("first", "exec sleep 1000");
  assertEquals((await daemon.cli("save")).code, 0);
  await daemon.startScript("second", "exec sleep 1000");
  assertEquals((await daemon.cli("save")).code, 0);
  await daemon.client.call("delete", "all");
  const saved = `${daemon.home}/state/saved.json`;
  const text = await Deno.readTextFile(saved);
  await Deno.writeTextFile(saved, text.slice(0, -20));
  const { stdout, stderr } = await daemon.cli("resurrect");
  assertStringIncludes(stdout, "resurrected 1 app");
  assertStringIncludes(stderr, "saved.json");
  assertEquals((await daemon.status("first")).state, "running");
  assert(Deno.statSync(`${saved}.unreadable`).isFile);
});

Deno.test("resurrect of three saved lists that cannot be read says so and changes nothing", async () => {
  await using daemon = await TestDaemon.start();
  await daemon.startScript("app", "exec sleep 1000");
  for (let save = 0; save < 4; save++) assertEquals((await daemon.cli("save")).code, 0);
  const state = `${daemon.home}/state`;
  const generations = [...Deno.readDirSync(state)]
    .filter(({ name }) => /^saved.*\.json$/.test(name));
  assertEquals(generations.length, 3);
  for (const { name } of generations) await Deno.writeTextFile(`${state}/${name}`, "");
  const { code, stderr } = await daemon.cli("resurrect");
  assertEquals(code, 1);
  assertStringIncludes(stderr, "saved.json");
  assertEquals((await daemon.status("app")).state, "running");
});

Deno.test("a command without a daemon says how to start one", async () => {
  await using temp: TempHome = tempHome();
  for (const args of [["list"], ["stop", "app"], ["logs"], ["save"], ["ping"]]) {
    const { code, stdout, stderr } = await cli(temp.path, ...args);
    assertEquals([code, stdout], [5, ""], stderr);
    assertMatch(stderr, /No daemon answers[^]*hint: /);
  }
  assertEquals(filesBelow(temp.path), []);
});

Deno.test("a stale socket and a stale lock of a killed daemon are in nobody's way", async () => {
  await using daemon = await TestDaemon.start();
  await daemon.kill();
  assert(Deno.lstatSync(`${daemon.home}/procsup.sock`).isSocket);
  assertEquals((await daemon.cli("list")).code, 5);
  await daemon.run();
  await waitFor(() => daemon.answers(), { what: "the new daemon" });
});
