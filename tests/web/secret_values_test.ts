/** No surface shows the value of an environment variable. */

import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { walkSync } from "@std/fs/walk";
import { pathsIn } from "../../src/platform/files/paths.ts";
import { waitFor } from "../support/wait_for.ts";
import { TestWeb } from "../support/web.ts";

const P = "/api/v1/processes";
const ACCEPT = { accept: "application/json, text/event-stream" };

/** What was seen, by source. */
type Seen = Map<string, string>;

Deno.test("environment secrets are only in the saved state", async () => {
  await using web = await TestWeb.start();
  const secret = `s3cret-${crypto.randomUUID()}`;
  const seen: Seen = new Map();
  using feed = await web.feed();
  feed.send({ type: "subscribe", topics: ["events", "logs", "system_metrics"] });
  const news = await fetch(`${web.url}/api/v1/events`, {
    headers: { authorization: `Bearer ${web.token}` },
  });
  await throughRest(web, secret, seen);
  await throughMcp(web, secret, seen);
  await throughCommands(web, secret, seen);
  await waitFor(() => feed.of("event").length > 0 && feed.of("system_metrics").length > 0);
  seen.set("WebSocket", feed.texts.join());
  const { value } = await news.body!.pipeThrough(new TextDecoderStream()).getReader().read();
  seen.set("events", value ?? "");
  seen.set("command lines", commandLines());
  seen.set("environment of the daemon", textOf(`/proc/${web.daemon.pid}/environ`));
  seen.set("daemon.log", Deno.readTextFileSync(pathsIn(web.daemon.home).daemonLog));
  for (const [where, text] of seen) {
    assertNotEquals(text, "", where);
    assert(!text.includes(secret), `${where}: ${text.slice(0, 2000)}`);
  }
  await web.daemon.client.call("save");
  const holders = filesWith(web.daemon.home, secret);
  assert(holders.length > 0);
  for (const path of holders) {
    assertMatch(path, /\/state\//);
    assertEquals(Deno.statSync(path).mode! & 0o077, 0, path);
  }
});

async function throughRest(web: TestWeb, secret: string, seen: Seen): Promise<void> {
  const ask = async (method: string, path: string, body?: unknown) => {
    const { status, text } = await web.ask(method, path, body);
    seen.set(`${method} ${path} ${seen.size}`, text);
    return status;
  };
  const config = { name: "app", entrypoint: "/bin/sleep", args: ["1000"], cwd: "/" };
  const env = { SECRET: secret };
  assertEquals(await ask("POST", P, { ...config, env }), 201);
  // Failures that have the value at hand.
  const wrong = [
    { ...config, env },
    { ...config, name: "b", env, nmae: 1 },
    { ...config, name: "b", env: { SECRET: { secret } } },
    { ...config, name: "b", env: secret },
    { ...config, name: "b", env: [secret] },
    { ...config, name: "b", env: { SECRET: `${secret}\0` } },
    { ...config, name: "b", env, entrypoint: "/no/such" },
    { ...config, name: "b", env, uid: "nobody-of-this-name" },
    `{"name":"b","env":{"SECRET": ${secret}`,
    `{"name":"b","env":{"SECRET":"${secret}"`,
  ];
  for (const body of wrong) assert(await ask("POST", P, body) >= 400, JSON.stringify(body));
  assertEquals(
    await ask("PATCH", `${P}/app`, { env: { SECRET: `${secret}-2`, MORE: secret } }),
    200,
  );
  assert(await ask("PATCH", `${P}/app`, { env: { SECRET: 5, MORE: [secret] } }) >= 400);
  assertEquals(await ask("PUT", `${P}/app`, { ...config, env }), 200);
  const inline = { config: { apps: [{ ...config, env: { SECRET: `${secret}-3` } }] } };
  await ask("POST", "/api/v1/config/reload?dry_run=true", inline);
  for (const verb of ["restart", "reload", "rolling_reload"]) await ask("POST", `${P}/app/${verb}`);
  const crashing = { ...config, name: "crash", env, entrypoint: "/bin/false", args: [] };
  await ask("POST", P, { ...crashing, restart_policy: "never" });
  const paths = [
    P,
    `${P}/app`,
    `${P}/app/why`,
    `${P}/app/history`,
    `${P}/app/logs`,
    `${P}/crash/why`,
  ];
  const others = ["ports", "system/info", "system/metrics", "cron", "webhooks", "session"];
  for (const path of [...paths, ...others.map((name) => `/api/v1/${name}`)]) {
    assertEquals(await ask("GET", path), 200, path);
  }
  for (const path of ["/metrics", "/openapi.json"]) assertEquals(await ask("GET", path), 200);
}

async function throughMcp(web: TestWeb, secret: string, seen: Seen): Promise<void> {
  const call = async (method: string, params: unknown) => {
    const message = { jsonrpc: "2.0", id: 1, method, params };
    const { status, text } = await web.ask("POST", "/mcp", message, ACCEPT);
    assertEquals(status, 200, text);
    seen.set(`MCP ${method} ${JSON.stringify(params).slice(0, 60)} ${seen.size}`, text);
  };
  const use = (name: string, args: unknown) => call("tools/call", { name, arguments: args });
  const env = { SECRET: secret };
  await use("start_app", {
    name: "agent",
    entrypoint: "/bin/sleep",
    args: ["1000"],
    cwd: "/",
    env,
  });
  await use("start_app", { name: "agent", entrypoint: "/bin/sleep", cwd: "/", env });
  await use("start_app", { name: "c", entrypoint: "/bin/sleep", env: { SECRET: [secret] } });
  await use("start_app", { name: "c", entrypoint: "/bin/false", cwd: "/", env });
  await use("list_apps", {});
  for (const name of ["get_status", "get_logs", "restart_app"]) {
    await use(name, { target: "agent" });
  }
  await call("resources/list", {});
  await call("tools/list", {});
  for (const uri of ["processes://list", "status://agent", "config://agent"]) {
    await call("resources/read", { uri }).catch(() => {});
  }
}

const COMMANDS = [
  ...["list -o wide", "list -o json", "list -o yaml", "status app", "status app --json"],
  ...["why app", "why crash", "cron", "token list", "webhook list", "doctor"],
];

async function throughCommands(web: TestWeb, secret: string, seen: Seen): Promise<void> {
  await using files = await tempFiles(filesWithSecret(secret));
  const commands = [...COMMANDS, `config show ${files.path}/good.yaml`];
  for (const file of files.names) {
    const path = `${files.path}/${file}`;
    const { text } = await web.ask("POST", "/api/v1/config/reload", { config_path: path });
    seen.set(`config/reload ${file}`, text);
    // For a file that is not JSON or TOML at all, a terminal shows the line to the user who runs
    // it.
    if (/json|toml/.test(file)) continue;
    for (const verb of ["validate", "plan", "apply"]) commands.push(`config ${verb} ${path}`);
  }
  await Promise.all(commands.map(async (command) => {
    const { stdout, stderr } = await web.daemon.cli(...command.split(" "));
    seen.set(`procsup ${command}`, stdout + stderr);
  }));
}

/** A valid file, one with an unknown key, one with a wrong type, and some unreadable ones. */
function filesWithSecret(secret: string): Readonly<Record<string, string>> {
  const app = "apps:\n  - name: filed\n    entrypoint: /bin/sleep\n    cwd: /\n";
  return {
    "good.yaml": `${app}    args: ["1000"]\n    env:\n      SECRET: ${secret}\n`,
    "key.yaml": `${app}    envv:\n      SECRET: ${secret}\n`,
    "type.yaml": `${app}    env: ${secret}\n`,
    "syntax.yaml": `${app}    env:\n      SECRET: "${secret}\n`,
    "syntax.json": `{"apps":[{"name":"filed","env":{"SECRET": ${secret}}}]}`,
    "syntax.toml": `[[apps]]\nname = "filed"\nenv = { SECRET = ${secret} }\n`,
  };
}

async function tempFiles(
  files: Readonly<Record<string, string>>,
): Promise<AsyncDisposable & { readonly path: string; readonly names: readonly string[] }> {
  const path = await Deno.makeTempDir({ prefix: "procsup-files-" });
  for (const [name, text] of Object.entries(files)) {
    await Deno.writeTextFile(`${path}/${name}`, text);
  }
  return {
    path,
    names: Object.keys(files),
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
}

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
  const files = [...walkSync(folder)].filter(({ isFile }) => isFile);
  return files.map(({ path }) => path).filter((path) => textOf(path).includes(text));
}
