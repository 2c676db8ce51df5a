/** Cases 25 to 27 and 43 to 45: huge, odd and hostile log text; and what others can find out. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { pathsIn } from "../../src/platform/paths.ts";
import { cli, programWords } from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";
import { TestWeb } from "../support/web.ts";

const P = "/api/v1/processes";
const MIB = 1024 * 1024;
const asRoot = Deno.uid() === 0;

Deno.test("web reads a line of 256 MiB without holding it", async () => {
  await using web = await TestWeb.start();
  await web.ask("GET", P);
  using feed = await web.feed();
  const before = web.memory();
  await web.daemon.startScript("huge", "head -c 268435456 /dev/zero | tr '\\0' x", {
    log: { max_size: "1GB" },
  });
  feed.send({ type: "subscribe", topics: ["logs"], target: "huge", lines: 1 });
  await waitFor(async () => (await web.daemon.status("huge")).state === "stopped", {
    timeoutMs: 30_000,
  });
  for (const query of ["", "?lines=10000", "?timestamps=true"]) {
    const { status, text } = await web.ask("GET", `${P}/huge/logs${query}`);
    assertEquals(status, 200);
    assert(text.length < 2.5 * MIB, `${query}: ${text.length}`);
  }
  for (const text of feed.texts) assert(text.length < MIB);
  assert(web.memory() - before < 100 * MIB, `${(web.memory() - before) / MIB} MiB`);
});

Deno.test("web gives odd bytes as valid JSON and leaves them alone on the disk", async () => {
  await using web = await TestWeb.start();
  const octal = "\\377\\376 \\355\\240\\200 a\\000b\\r\\n \\342\\202 \\360\\237\\230\\200\\n";
  const bytes = [0xff, 0xfe, 0x20, 0xed, 0xa0, 0x80, 0x20, 0x61, 0, 0x62, 13, 10, 0x20];
  const rest = [0xe2, 0x82, 0x20, 0xf0, 0x9f, 0x98, 0x80, 10];
  await web.daemon.startScript("odd", `printf '${octal}'`);
  const path = `${web.daemon.home}/apps/odd/stdout.log`;
  await waitFor(() => Deno.readFileSync(path).length === bytes.length + rest.length);
  assertEquals([...Deno.readFileSync(path)], [...bytes, ...rest]);
  const { body } = await web.ask("GET", `${P}/odd/logs`);
  assert(body.logs.includes("\ufffd") && body.logs.isWellFormed(), JSON.stringify(body.logs));
  assert(body.logs.includes("a\0b\r\n") && body.logs.endsWith("😀\n"), JSON.stringify(body.logs));
});

Deno.test("web leaves hostile text text, and terminals see none of it obeyed", async () => {
  await using web = await TestWeb.start();
  const hostile = "\\033]52;c;ZXZpbA==\\007 \\033[31mred\\033[0m <img src=x onerror=alert(1)>\\n";
  await web.daemon.startScript("evil", `printf '${hostile}'; exec sleep 1000`);
  await waitFor(async () => (await web.ask("GET", `${P}/evil/logs`)).body.logs !== "");
  const answer = await web.ask("GET", `${P}/evil/logs`);
  assertEquals(answer.headers.get("content-type"), "application/json");
  assertEquals(answer.headers.get("x-content-type-options"), "nosniff");
  assert(answer.body.logs.includes("<img src=x onerror=alert(1)>"));
  const stdout = await onTerminal(web.daemon.home, "logs evil");
  assertMatch(stdout, /red.*<img src=x/);
  assert(!stdout.includes("\x1b]52"), JSON.stringify(stdout));
  const refused = await web.ask("POST", P, {
    ...{ name: "<script>alert(1)</script>", entrypoint: "/bin/true", cwd: "/" },
  });
  assertEquals([refused.status, refused.body.code], [422, "invalid_config"]);
});

/** What a command writes to a terminal. */
async function onTerminal(home: string, words: string): Promise<string> {
  const command = `${programWords().join(" ")} ${words}`;
  const { stdout } = await new Deno.Command("script", {
    args: ["-qec", command, "/dev/null"],
    env: { PROCSUP_HOME: home },
    stdin: "null",
  }).output();
  return new TextDecoder().decode(stdout);
}

Deno.test("home is closed to other users", { ignore: !asRoot }, async () => {
  await using web = await TestWeb.start();
  await web.daemon.startScript("app", "echo secret; exec sleep 1000");
  await web.daemon.client.call("save");
  await web.daemon.client.call("token_create", { name: "ci" });
  const { home, socket, token, tokens, saved, daemonLog } = pathsIn(web.daemon.home);
  const files = [socket, token, tokens, saved, daemonLog, `${home}/apps/app/stdout.log`];
  for (const path of files) {
    const mode = Deno.lstatSync(path).mode! & 0o077;
    assert(mode === 0 || path.endsWith("stdout.log"), `${path} ${mode.toString(8)}`);
    const read = path === socket
      ? `curl -s --max-time 2 --unix-socket '${path}' http://x/api/ping`
      : `cat '${path}'`;
    const { code } = await asNobody(read);
    assert(code !== 0, `nobody reads ${path}`);
  }
});

function asNobody(script: string): Promise<Deno.CommandOutput> {
  const args = ["--reuid=65534", "--regid=65534", "--clear-groups", "/bin/sh", "-c", script];
  return new Deno.Command("setpriv", { args, stdout: "null", stderr: "null" }).output();
}

Deno.test(
  "home that somebody else prepared is refused, with the reason",
  { ignore: !asRoot },
  async () => {
    await using temp = tempHome();
    Deno.chmodSync(temp.path, 0o777);
    const homes: [string, (path: string) => void, RegExp][] = [
      ["open", (path) => (Deno.mkdirSync(path), Deno.chmodSync(path, 0o777)), /others may write/],
      [
        "foreign",
        (path) => (Deno.mkdirSync(path, { mode: 0o700 }), Deno.chownSync(path, 65534, 65534)),
        /belongs to user 65534/,
      ],
      ["link", (path) => Deno.symlinkSync(temp.path, path), /symbolic link/],
    ];
    for (const [name, prepare, reason] of homes) {
      const home = `${temp.path}/${name}`;
      prepare(home);
      const { code, stderr } = await cli(home, "daemon");
      assertEquals(code, 2, name);
      assertMatch(stderr, reason);
    }
  },
);

Deno.test("secrets of an environment are in the state alone", async () => {
  await using web = await TestWeb.start();
  const secret = `s3cret-${crypto.randomUUID()}`;
  using feed = await web.feed();
  feed.send({ type: "subscribe", topics: ["events", "system_metrics"] });
  const config = { name: "app", entrypoint: "/bin/sleep", args: ["1000"], cwd: "/" };
  const seen = [(await web.ask("POST", P, { ...config, env: { SECRET: secret } })).text];
  // A failure that has the value at hand.
  seen.push((await web.ask("POST", P, { ...config, env: { SECRET: secret }, nmae: 1 })).text);
  seen.push((await web.ask("POST", P, { ...config, env: { SECRET: { secret } } })).text);
  await web.ask("POST", `${P}/app/restart`);
  for (const path of [P, `${P}/app`, `${P}/app/why`, "/metrics", "/openapi.json"]) {
    seen.push((await web.ask("GET", path)).text);
  }
  const mcp = {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "list_apps", arguments: {} },
  };
  const accept = { accept: "application/json, text/event-stream" };
  const listed = await web.ask("POST", "/mcp", mcp, accept);
  assert(listed.text.includes("app"), listed.text);
  seen.push(listed.text);
  for (const args of [["list", "--json"], ["status", "app", "--json"], ["status", "app"]]) {
    seen.push((await web.daemon.cli(...args)).stdout);
  }
  await waitFor(() => feed.of("event").length > 0);
  await web.daemon.client.call("save");
  const { daemonLog } = pathsIn(web.daemon.home);
  seen.push(feed.texts.join(), Deno.readTextFileSync(daemonLog), commandLines());
  for (const text of seen) assert(!text.includes(secret), text.slice(0, 2000));
  const holders = filesWith(web.daemon.home, secret);
  assert(holders.length > 0);
  for (const path of holders) {
    assertMatch(path, /\/state\//);
    assertEquals(Deno.statSync(path).mode! & 0o077, 0, path);
  }
});

function commandLines(): string {
  return [...Deno.readDirSync("/proc")].filter(({ name }) => /^\d+$/.test(name))
    .map(({ name }) => textOf(`/proc/${name}/cmdline`)).join("\n");
}

function textOf(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return "";
  }
}

function filesWith(folder: string, text: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory, isFile }) => {
    const path = `${folder}/${name}`;
    if (isDirectory) return filesWith(path, text);
    return isFile && textOf(path).includes(text) ? [path] : [];
  });
}
