/** Configuration files: merged, extended, interpolated. */

import { assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { interpolate } from "../../src/config/layer.ts";
import { ConfigProblems } from "../../src/config/problem.ts";
import { Files, loadedFrom } from "./files.ts";

Deno.test("loadConfig() reads the same configuration from every format", async () => {
  const yaml = await loadedFrom(
    "procsup.yaml",
    "processes:\n  api: { entrypoint: sleep, args: [1.10], env: { PORT: 080, ON: true }, cwd: / }\n",
  );
  const api = yaml.get("api")!;
  assertEquals([api.args, api.env], [["1.10"], { PORT: "080", ON: "true" }]);
  const toml = await loadedFrom(
    "procsup.toml",
    '[[processes]]\nname = "api"\nentrypoint = "sleep"\nargs = ["1.10"]\ncwd = "/"\n' +
      '[processes.env]\nPORT = "080"\nON = true\n',
  );
  const value = { entrypoint: "sleep", args: ["1.10"], cwd: "/", env: { PORT: "080", ON: true } };
  const json = JSON.stringify({ processes: { api: value } });
  const module = `export default (): unknown => (${json});`;
  for (
    const same of [
      toml,
      await loadedFrom("procsup.json", json),
      await loadedFrom("procsup.jsonc", `/* why */ ${json}`),
      await loadedFrom("procsup.config.ts", module),
    ]
  ) assertEquals(same, yaml);
});

Deno.test("numbers that JavaScript cannot represent stay as written where text is expected", async () => {
  const yaml = "processes:\n  a: { entrypoint: sleep, env: { A: .inf, B: -.Inf, C: .nan } }\n";
  const { env } = (await loadedFrom("procsup.yaml", yaml)).get("a")!;
  assertEquals(env, { A: ".inf", B: "-.Inf", C: ".nan" });
});

Deno.test("TOML dates in env stay as written", async () => {
  const toml = '[processes.a]\nentrypoint = "sleep"\n' +
    'env = { DAY = 2024-01-31, AT = 2024-01-31T10:00:00.000+01:00, LIST = "x" }\n';
  const { env } = (await loadedFrom("procsup.toml", toml)).get("a")!;
  assertEquals(env, { DAY: "2024-01-31", AT: "2024-01-31T10:00:00.000+01:00", LIST: "x" });
});

Deno.test("loadConfig() gives a process precedence over profile defaults, defaults and extended files", async () => {
  await using files = new Files({
    "base/common.yaml": `
defaults: { restart_delay: 1s, env: { A: base, B: base } }
processes:
  api: { entrypoint: ./run.sh, env: { C: base } }
`,
    "base/run.sh": "",
    "procsup.yaml": `
extends: base/common.yaml
defaults: { env: { A: file } }
processes:
  api: { instances: 2, env: { D: "\${NAME:-nobody} $\${x}" } }
  worker: { script: sleep }
profiles:
  production: { defaults: { restart_delay: 5s }, processes: { api: { env: { A: live } } } }
`,
  });
  const { processes, variables } = await files.load(["procsup.yaml"], {
    profile: "production",
    env: { NAME: "me", OTHER: "1" },
  });
  const [api, worker] = processes.map(({ config }) => config);
  assertEquals(api!.entrypoint, `${files.folder}/base/run.sh`);
  assertEquals(api!.cwd, `${files.folder}/base`);
  assertEquals([api!.instances, api!.restartDelayMs], [2, 5000]);
  assertEquals(api!.env, { A: "live", B: "base", C: "base", D: "me ${x}" });
  assertEquals([worker!.cwd, worker!.env], [files.folder, { A: "file", B: "base" }]);
  assertEquals(variables, { NAME: "me" });
});

Deno.test("loadConfig() resolves paths against their file, and later files override earlier ones", async () => {
  await using files = new Files({
    "a.yaml": `
secrets: { TOKEN: { file: token } }
processes: { api: { entrypoint: sleep, env_file: .env, watch: [src], cwd: app } }
cron: [{ name: nightly, schedule: 0 3 * * *, timezone: UTC, command: "a && b" }]
`,
    "sub/b.yaml": "processes: { api: { watch: { paths: [lib] }, tags: [x] } }\n",
  });
  const { processes } = await files.load(["a.yaml", "sub/b.yaml"]);
  const [api, nightly] = processes.map(({ config }) => config);
  assertEquals(api!.watch?.paths, [`${files.folder}/sub/lib`]);
  assertEquals([api!.cwd, api!.envFile], [`${files.folder}/app`, [`${files.folder}/.env`]]);
  assertEquals([api!.tags, api!.secrets], [["x"], { TOKEN: { file: `${files.folder}/token` } }]);
  assertEquals([nightly!.cron?.schedule, nightly!.cron?.timezone], ["0 3 * * *", "UTC"]);
  assertEquals(nightly!.args, ["-c", "a && b"]);
});

Deno.test("loadConfig() interpolates endpoints and sockets too, and falls back to .env", async () => {
  await using files = new Files({
    "a.yaml": `
processes:
  db:
    entrypoint: sleep
    cwd: /
    sockets: ["127.0.0.1:\${PORT}"]
    health_check: { type: tcp, tcp_endpoint: "127.0.0.1:\${PORT}", command: "echo \${PORT}" }
    env: { WHO: "\${WHO}" }
  web: { entrypoint: sleep, health_check: { type: http, url: "http://\${HOST}:\${PORT}/" } }
`,
    ".env": 'PORT=5432 # of this checkout\nHOST="localhost"\nWHO=file\n',
  });
  const { processes, variables } = await files.load(["a.yaml"], { env: { WHO: "shell" } });
  const [db, web] = processes.map(({ config }) => config);
  assertEquals(db!.sockets, ["127.0.0.1:5432"]);
  assertEquals(db!.healthCheck?.tcpEndpoint, "127.0.0.1:5432");
  assertEquals(db!.healthCheck?.command, "echo ${PORT}");
  assertEquals(web!.healthCheck?.url, "http://localhost:5432/");
  // A reload reads the file's own values again instead of remembering them.
  assertEquals([db!.env, variables], [{ WHO: "shell" }, { WHO: "shell" }]);
});

Deno.test("loadConfig() reads .env only when a variable is not in the environment", async () => {
  await using files = new Files({
    "a.yaml": 'processes: { a: { entrypoint: sleep, env: { B: "${B:-x}" } } }\n',
    ".env": "no such line\n",
  });
  const { processes } = await files.load(["a.yaml"], { env: { B: "y" } });
  assertEquals(processes[0]!.config.env, { B: "y" });
  const { problems } = await assertRejects(() => files.load(["a.yaml"]), ConfigProblems);
  assertStringIncludes(problems[0]!.message, `Invalid line 1 in "${files.folder}/.env"`);
  Deno.writeFileSync(`${files.folder}/.env`, new TextEncoder().encode("B=é").slice(0, -1));
  const { problems: [unread] } = await assertRejects(() => files.load(["a.yaml"]), ConfigProblems);
  const why = "cannot be read: it is not text in UTF-8";
  assertStringIncludes(unread!.message, `${files.folder}/.env: ${why}`);
});

Deno.test("interpolate() fills in variables and defaults, and keeps other dollar signs", () => {
  const lookup = (name: string) => ({ A: "1", EMPTY: "" })[name];
  const filled = (text: string) => interpolate(text, lookup);
  assertEquals(filled("${A}${A}"), "11");
  assertEquals(filled("${EMPTY}|${EMPTY:-x}|${NO:-}|${NO:-a:-b}"), "|x||a:-b");
  assertEquals(filled("$A $ $$ $${A} $(date)"), "$A $ $ ${A} $(date)");
  assertEquals(
    filled("${NO:-${A}}|${NO:-a ${NO:-${A} b} c}|${A:-${NO}}|${EMPTY:-$${A}}"),
    "1|a 1 b c|1|${A}",
  );
  assertEquals(filled("${A|$$"), "${A|$");
  assertThrows(() => filled("${NO:-${A}"), Error, "is not closed");
  assertThrows(() => filled("${NO:-${NO}}"), Error, "the variable NO is not set");
  const deep = (depth: number) => filled("${NO:-".repeat(depth) + "x" + "}".repeat(depth));
  assertEquals(deep(30), "x");
  assertThrows(() => deep(50), Error, "nested more than");
});

Deno.test("loadConfig() splits a command line, and uses a shell only where one is needed", async () => {
  const configs = await loadedFrom(
    "procsup.yaml",
    `processes:
  plain: { command: 'node server.js --name "a b" \${UNSET_PORT:-80}' }
  shell: { command: "a | b" }
  nested: { command: 'echo \${UNSET:-a \${UNSET:-b "c  d"} e} f' }
  variable: { command: "echo $PORT" }
profiles: { other: { processes: { plain: { command: sleep 1 } } } }
cron:
  - { name: job, schedule: "@daily", command: "date > now" }
`,
  );
  const line = (name: string) => {
    const { entrypoint, args, restartPolicy } = configs.get(name)!;
    return [restartPolicy, entrypoint, ...args];
  };
  assertEquals(line("plain"), ["on-failure", "node", "server.js", "--name", "a b", "80"]);
  assertEquals(line("nested"), ["on-failure", "echo", "a b c  d e", "f"]);
  assertEquals(line("shell"), ["on-failure", "/bin/sh", "-c", "a | b"]);
  assertEquals(line("variable"), ["on-failure", "/bin/sh", "-c", "exec echo $PORT"]);
  assertEquals(line("job"), ["never", "/bin/sh", "-c", "exec date > now"]);
});

Deno.test("loadConfig() skips defaults that do not apply to a job", async () => {
  const configs = await loadedFrom(
    "procsup.yaml",
    `defaults: { restart_policy: always, cron_restart: "@daily", instances: max }
processes:
  web: { command: sleep 1 }
  job: { command: sleep 1, cron: "@daily" }
`,
  );
  const [web, job] = [configs.get("web")!, configs.get("job")!];
  assertEquals([web.restartPolicy, web.cronRestart?.schedule], ["always", "@daily"]);
  assertEquals([job.restartPolicy, job.cronRestart], ["never", undefined]);
  assertEquals(web.instances, navigator.hardwareConcurrency);
});

Deno.test("loadConfig() ignores keys that begin with x-, which hold anchors", async () => {
  const text =
    "x-node: &node { entrypoint: node, instnces: 1 }\nx-app: &app { entrypoint: sleep }\n" +
    "processes:\n  api: { <<: *app, instances: 2 }\n";
  const processes = await loadedFrom("procsup.yaml", text);
  assertEquals([...processes].map(([name, { instances }]) => [name, instances]), [["api", 2]]);
});

Deno.test("loadConfig() keeps numbers as written through aliases and merges", async () => {
  const loaded = await loadedFrom(
    "procsup.yaml",
    `
processes:
  env: { entrypoint: sleep, env: &env { V: 1.10, W: 2.0 } }
  more: { entrypoint: sleep, env: &more { X: 3.0, W: 9.0, <<: *env } }
  a: { entrypoint: sleep, env: { PORT: &port 8080, DBG: &t true }, args: [*port] }
  b: { entrypoint: sleep, env: { PORT: *port, D: *t } }
  c: { entrypoint: sleep, env: *env }
  d: { entrypoint: sleep, env: { <<: *env, W: 4.0 } }
  e: { entrypoint: sleep, env: { <<: [*env, *more] } }
  f: { entrypoint: sleep, env: *more }
`,
  );
  assertEquals(loaded.get("a")!.args, ["8080"]);
  assertEquals([..."abcdef"].map((name) => loaded.get(name)!.env), [
    { PORT: "8080", DBG: "true" },
    { PORT: "8080", D: "true" },
    { V: "1.10", W: "2.0" },
    { V: "1.10", W: "4.0" },
    { V: "1.10", W: "2.0", X: "3.0" },
    { X: "3.0", W: "9.0", V: "1.10" },
  ]);
});

Deno.test("loadConfig() finds numbers of TOML past comments and text blocks", async () => {
  const loaded = await loadedFrom(
    "procsup.toml",
    `[processes.a]
entrypoint = "sleep"
[processes.a.env]
PORT = 8080 # the app's port
ON = true # it's "on"
V = 1.10
ZERO = 0x0
BIG = 1_000
URL = "a#b" # 'c'
TEXT = """
V = 77
[processes.b]
\\"""
V = 1.1
""" # """
LITERAL = '''
V = 78
'''
W = 2.0
`,
  );
  assertEquals(loaded.get("a")!.env, {
    ...{ PORT: "8080", ON: "true", V: "1.10", ZERO: "0x0", BIG: "1000", URL: "a#b" },
    ...{ TEXT: 'V = 77\n[processes.b]\n"""\nV = 1.1\n', LITERAL: "V = 78\n", W: "2.0" },
  });
});

Deno.test("loadConfig() overrides a nested default under any alias of its key", async () => {
  const loaded = await loadedFrom(
    "procsup.yaml",
    `defaults: { health_check: { type: tcp, address: "127.0.0.1:1", interval: 7s } }
processes:
  a: { entrypoint: sleep, health_check: { tcp_endpoint: "127.0.0.1:2" } }
  b: { entrypoint: sleep, health_check: { address: "127.0.0.1:3" } }
`,
  );
  const checks = ["a", "b"].map((name) => loaded.get(name)!.healthCheck!);
  assertEquals(
    checks.map(({ tcpEndpoint, intervalMs }) => [tcpEndpoint, intervalMs]),
    [["127.0.0.1:2", 7000], ["127.0.0.1:3", 7000]],
  );
});

Deno.test("loadConfig() reads files with a byte order mark", async () => {
  const configs = {
    "procsup.yaml": "processes:\n  a: { entrypoint: sleep }\n",
    "procsup.toml": '[processes.a]\nentrypoint = "sleep"\n',
    "procsup.json": '{"processes":{"a":{"entrypoint":"sleep"}}}',
  };
  for (const [file, text] of Object.entries(configs)) {
    assertEquals([...(await loadedFrom(file, `\uFEFF${text}`)).keys()], ["a"], file);
  }
});

Deno.test("loadConfig() refuses a ~ in a path, which would become a folder", async () => {
  await using files = new Files({
    "a.yaml": "processes:\n  a: { entrypoint: sleep, log: { stdout: ~/a.log } }\n",
  });
  const { problems } = await assertRejects(() => files.load(["a.yaml"]), ConfigProblems);
  assertStringIncludes(problems[0]!.message, 'only shells replace "~": write the whole path');
});
