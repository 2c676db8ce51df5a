/** Invalid input gets one clear error, and the daemon survives. */

import { assertEquals, assertMatch } from "@std/assert";
import { assertOneError } from "../support/one_error.ts";
import { TestDaemon } from "../support/procsup.ts";

const daemon = TestDaemon.ofFile();

const ASLEEP = ["--no-wait", "--", "sleep", "1000"];
const LONG = "x".repeat(300);

/** A command line, its exit code, and its error message. */
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
  [["ping", "app"], 2, /Unexpected word "app"/],
  [["restart", "--no-autorestart", "api"], 2, /Unknown flag "--no-autorestart"/],
  [["start", "--no-autorestart", ...ASLEEP], 2, /Use --restart never/],
  [["signal", "api", "HUP"], 2, /hint: procsup signal HUP api$/m],
  [["run", "procsup.yaml", "-e", "PORT=5"], 2, /Cannot use --env with a configuration file/],
  [["run", "procsup.yaml", "--restart", "always"], 2, /Cannot use --restart with a config/],
  [["run", "procsup.yaml", "--now"], 2, /Cannot use --now without --single/],
  [["start", "/bin/true", "--only", "x"], 2, /Cannot use --only without a configuration file/],
  [["start", "/bin/true", "--profile", "x"], 2, /Cannot use --profile without/],
  [["start", "/bin/true", "--image", "x"], 2, /Unknown flag "--image"/],
  [["up", "--strict"], 2, /Cannot use --strict without an engine/],
  [["up", "--ports", "host"], 2, /Cannot use --ports without an engine/],
  [["list", "--namespace", "web"], 2, /Unknown flag "--namespace"[^]*ns:<name>/],
  [["list", "--namespace", "web", "--on", "kubernetes"], 2, /Unknown flag[^]*--cluster-namespace/],
  [["start", "x", "--on", "swarm"], 2, /Unknown flag "--on"[^]*Engines have up, down,/],
  [["stop", "x", "--stack", "shop"], 2, /Unknown flag "--stack"[^]*procsup help engines/],
  [["help", "logging", "--all"], 2, /Cannot use --all without a command/],
  [["logs", "--cluster-namespace", "web"], 2, /Cannot use --cluster-namespace without an engine/],
  [["list", "--all-contexts", "--stack", "shop"], 2, /Cannot use --stack without an engine/],
  [["token", "--role", "read"], 2, /Cannot use --role with "token"/],
  [["web", "stop", "--listen", "127.0.0.1:1"], 2, /Cannot use --listen with "web stop"/],
  [["mcp", "--print"], 2, /Cannot use --print with "mcp"/],
  [["signal", "nine", "api"], 2, /Unknown signal "nine": expected a name/],
  [["stop", "api", "--timeout", "soon"], 2, /more: procsup help stop$/m],
  [["run", "--only", "nope", "--", "true"], 2, /Cannot use --only without a configuration file/],
  [["run", "--single", "x", "--now", "--", "true"], 2, /Cannot use --single without a config/],
];

const WRONG_TARGETS: readonly Case[] = [
  [["stop", "nobody"], 4, /Process not found/],
  [["status", "nobody"], 4, /Process not found/],
  [["restart", "99"], 4, /Process not found/],
  [["delete", "../../etc/passwd"], 4, /Process not found/],
  [["start", "nobody"], 4, /Cannot start "nobody": no such file here, and no process of that name/],
  [["stop", "api"], 0, /^$/],
  [["stop", "tag:none"], 4, /Process not found/],
  [["signal", "SIGFROB", "api:0"], 2, /SIGFROB/],
  [["list", "app"], 4, /did you mean "api"/],
  [["list", "api", "tag:none"], 4, /Process not found/],
  [["wait", "api", "--for", "stopped"], 0, /^$/],
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
  Deno.test(`command line rejects ${group.replace("_", " ").toLowerCase()}`, async () => {
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

/** Bodies and headers that the socket must reject. */
interface Request {
  readonly body: string;
  readonly path?: string;
  readonly token?: string;
  readonly method?: string;
}

const LIST = JSON.stringify({ action: "list" });
const start = (config: unknown) => JSON.stringify({ action: "start", payload: config });
const sleeper = { name: "x", entrypoint: "/bin/sleep", args: ["1000"], cwd: "/" };

/** With an own key of that name. */
function withProto(config: object): unknown {
  return JSON.parse(JSON.stringify(config).replace("{", '{"__proto__":{"x":1},'));
}

const WRONG_REQUESTS: readonly (readonly [Request, status: number, says: RegExp])[] = [
  [{ body: "{" }, 400, /not JSON/],
  [{ body: "" }, 400, /"action"/],
  [{ body: "[]" }, 400, /"action"/],
  [{ body: "null" }, 400, /"action"/],
  [{ body: `{"action":"list","x":"${"y".repeat(1024 * 1024)}"}` }, 413, /1 MiB/],
  [{ body: LIST, token: "0".repeat(64) }, 401, /token/],
  [{ body: LIST, token: "" }, 401, /token/],
  [{ body: '{"action":"frobnicate"}' }, 400, /Unknown verb "frobnicate"/],
  [{ body: '{"action":"__proto__"}' }, 400, /Unknown verb/],
  [{ body: '{"action":"sotp"}' }, 400, /did you mean "stop"/],
  [{ body: '{"action":{}}' }, 400, /action/],
  [{ body: '{"action":"stop","payload":{"target":1}}' }, 400, /"target"/],
  [{ body: '{"action":"stop","payload":{"target":"x","forec":true}}' }, 400, /"forec".*"force"/],
  [{ body: '{"action":"stop","payload":"nobody"}' }, 404, /^process not found$/],
  [{ body: '{"action":"config_reload","payload":{"config_path":[]}}' }, 400, /"config_path"/],
  [{ body: '{"action":"start_all","payload":{"config":[]}}' }, 400, /"config"/],
  [{ body: '{"action":"start_all","payload":{"only":[]}}' }, 400, /"only"/],
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
  [{ body: '{"action":"start","payload":{"__proto__":{"x":1}}}' }, 422, /"__proto__"/],
  [{ body: start(withProto(sleeper)) }, 422, /Unknown key "__proto__"/],
  [{ body: start({ ...sleeper, depends_on: ["__proto__"] }) }, 422, /"depends_on/],
];

Deno.test("daemon rejects invalid requests and survives", async () => {
  // One connection for all, because every 25th new one was seen to take 5 s.
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
