import { assertEquals, assertThrows } from "@std/assert";
import { readCommandLine } from "../../src/cli/args.ts";
import { startPayloads } from "../../src/cli/start_payload.ts";
import { keyNames } from "../../src/model/key_table.ts";
import { PROCESS_KEYS } from "../../src/model/process_keys.ts";
import { ProcsupError } from "../../src/model/errors.ts";
import type { StartPayload } from "../../src/protocol/wire.ts";
import { hintOf } from "../support/hint_of.ts";

const TARGETS = ["all", "0", "17", "tag:x", "ns:shop", "label:a=b", "api:0", "shop:*", "3f2a91bc"];
const FILES = [
  ...["/srv/api.ts", "/srv/my app.py", "/opt/job.sh"],
  ...TARGETS.map((word) => `/srv/${word}`),
];

function payloads(...words: string[]): StartPayload[] {
  const { positionals, rest, flags } = readCommandLine(["start", ...words]);
  return startPayloads({
    positionals,
    rest,
    flags,
    cwd: "/srv",
    cpus: 8,
    variable: (name) => ["TOKEN", "discovery.type"].includes(name) ? "of=shell" : undefined,
    isFile: (path) => FILES.includes(path),
  });
}

function refused(...words: string[]): ProcsupError {
  return assertThrows(() => payloads(...words), ProcsupError);
}

Deno.test("startPayloads() starts a file of the current directory by its absolute path", () => {
  assertEquals(payloads("api.ts"), [{ name: "api", entrypoint: "/srv/api.ts", cwd: "/srv" }]);
  assertEquals(payloads("./api.ts")[0]?.entrypoint, "/srv/api.ts");
  assertEquals(payloads("../opt/./job.sh")[0]?.entrypoint, "/opt/job.sh");
  assertEquals(payloads(".")[0]?.entrypoint, "/srv");
  assertEquals(payloads("my app.py")[0]?.name, "my-app");
});

Deno.test("startPayloads() takes the form of a target for a file only after ./", () => {
  for (const word of TARGETS) {
    assertEquals(payloads(word), [{ target: word }]);
    assertEquals(payloads("--cwd", "/srv", `./${word}`)[0]?.entrypoint, `/srv/${word}`);
  }
});

Deno.test("startPayloads() passes the words after -- to the file", () => {
  assertEquals(payloads("api.ts", "--", "--port", "80")[0]?.args, ["--port", "80"]);
});

Deno.test("startPayloads() reads a missing path as an entrypoint, which the daemon rejects by name", () => {
  assertEquals(payloads("bin/none")[0]?.entrypoint, "/srv/bin/none");
});

Deno.test("startPayloads() reads a word that is not a file as a process", () => {
  assertEquals(payloads("api"), [{ target: "api" }]);
  assertEquals(payloads("api", "worker", "api.ts"), [
    { target: "api" },
    { target: "worker" },
    { name: "api", entrypoint: "/srv/api.ts", cwd: "/srv" },
  ]);
});

Deno.test("startPayloads() reads a command line after --", () => {
  assertEquals(payloads("--name", "web", "--", "caddy", "run", "--watch"), [
    { name: "web", entrypoint: "caddy", cwd: "/srv", args: ["run", "--watch"] },
  ]);
  assertEquals(payloads("--", "./bin/x")[0]?.entrypoint, "/srv/bin/x");
});

Deno.test("startPayloads() finds a file in --cwd", () => {
  const [payload] = payloads("--cwd", "/opt", "job.sh");
  assertEquals(payload, { name: "job", entrypoint: "/opt/job.sh", cwd: "/opt" });
  assertEquals(payloads("--cwd", "sub", "api.ts")[0]?.cwd, "/srv/sub");
});

Deno.test("startPayloads() maps every flag to its configuration key", () => {
  const flags =
    "--name a -i 3 --runtime deno --interpreter /d --use-bundle -e A=1 --env B=x=y --ns n " +
    "--tag t --tag u -l k=v --restart always --max-restarts 4 --restart-window 1m --restart-delay 2s " +
    "--backoff-max 9s --min-uptime 3s --success-exit-codes 0,2 --stop-signal INT --stop-timeout 4s " +
    "--reload-signal HUP --no-autostart";
  assertEquals(payloads("api.ts", ...flags.split(" ")), [{
    name: "a",
    entrypoint: "/srv/api.ts",
    cwd: "/srv",
    runtime: "deno",
    interpreter: "/d",
    namespace: "n",
    restart_policy: "always",
    restart_window: "1m",
    restart_delay: "2s",
    backoff_max: "9s",
    min_uptime: "3s",
    stop_signal: "INT",
    stop_timeout: "4s",
    reload_signal: "HUP",
    max_restarts: 4,
    instances: 3,
    use_bundle: true,
    autostart: false,
    success_exit_codes: [0, 2],
    env: { A: "1", B: "x=y" },
    labels: { k: "v" },
    tags: ["t", "u"],
  }]);
  assertEquals(payloads("api.ts", "-i", "max")[0]?.instances, 8);
});

Deno.test("startPayloads() applies a timezone to its schedule", () => {
  const daily = { schedule: "@daily", timezone: "UTC" };
  assertEquals(payloads("api.ts", "--cron", "0 4 * * *")[0]?.cron, "0 4 * * *");
  assertEquals(payloads("api.ts", "--cron", "@daily", "--timezone", "UTC")[0]?.cron, daily);
  const [restart] = payloads("api.ts", "--cron-restart", "@daily", "--timezone", "UTC");
  assertEquals(restart?.cron_restart, daily);
  assertEquals(
    refused("api.ts", "--timezone", "UTC").message,
    "Cannot use --timezone without --cron, --every or --cron-restart",
  );
  const restarts = ["api.ts", "--cron-restart", "@daily", "--timezone", "UTC"] as const;
  assertEquals(
    refused(...restarts, "--catch-up", "once").message,
    "Cannot use --catch-up without --cron or --every",
  );
});

Deno.test("startPayloads() uses only configuration keys", () => {
  const [payload] = payloads("api.ts", "--ns", "n", "-l", "k=v", "--restart", "never", "-i", "2");
  assertEquals(Object.keys(payload!).filter((key) => !keyNames(PROCESS_KEYS).includes(key)), []);
});

Deno.test("startPayloads() rejects contradictory flags", () => {
  assertEquals(
    refused("api.ts", "my app.py", "-n", "x").message,
    "Cannot give one name to several apps",
  );
  const missing = refused("serve.ts", "--name", "api");
  assertEquals(missing.message, 'Cannot use --name with "serve.ts": no such file');
  assertEquals(
    hintOf(missing),
    "A command on PATH is started with: procsup start --name api -- serve.ts",
  );
  assertEquals(refused("api", "--", "-v").message, 'Cannot use arguments with "api": no such file');
  assertEquals(refused("api.ts", "-i", "0").code, "bad_request");
  assertEquals(refused("api.ts", "--success-exit-codes", "0,x").code, "bad_request");
});

Deno.test("startPayloads() never shows the value of an environment variable", () => {
  assertEquals(
    refused("api.ts", "-e", "=secret").message,
    "Invalid value of --env: expected KEY=VALUE, or the name of a variable that is set here",
  );
});

Deno.test("startPayloads() watches the folder, or named paths, minus ignored ones", () => {
  assertEquals(payloads("api.ts", "--watch")[0]?.watch, { enabled: true });
  assertEquals(
    payloads("api.ts", "--watch-path", "src", "--watch-path", "lib", "--ignore-watch", "*.tmp")[0]
      ?.watch,
    { enabled: true, paths: ["src", "lib"], ignore: ["*.tmp"] },
  );
  assertEquals(refused("api.ts", "--watch-ignore", "x").message.includes("--watch"), true);
});

Deno.test("startPayloads() accepts PM2's names of flags with the same meaning", () => {
  const words = "--max-memory-restart 200MB --kill-timeout 3s --stop-exit-codes 0,2 --uid nobody";
  assertEquals(payloads("api.ts", ...words.split(" "))[0], {
    name: "api",
    entrypoint: "/srv/api.ts",
    cwd: "/srv",
    max_memory: "200MB",
    stop_timeout: "3s",
    success_exit_codes: [0, 2],
    uid: "nobody",
  });
});

Deno.test("startPayloads() takes a variable from the shell by any name", () => {
  const [payload] = payloads("api.ts", "-e", "discovery.type", "-e", "1X=2");
  assertEquals(payload?.env, { "discovery.type": "of=shell", "1X": "2" });
  assertEquals(refused("api.ts", "-e", "not.set").code, "bad_request");
});

Deno.test("startPayloads() resolves environment files against the current directory", () => {
  const [payload] = payloads("api.ts", "--cwd", "/opt", "--env-file", ".env", "--env-file", "/e");
  assertEquals(payload?.env_file, ["/srv/.env", "/e"]);
});

Deno.test("startPayloads() explains how to write a misplaced command", () => {
  const hint = (...words: string[]) =>
    hintOf(refused(...words))?.replace(/^.*: procsup/, "procsup");
  assertEquals(
    hint("npm", "--name", "web", "--", "run", "a b"),
    "procsup start --name web -- npm run 'a b'",
  );
  assertEquals(payloads("label:a=b c"), [{ target: "label:a=b c" }]);
});

Deno.test("startPayloads() accepts a quoted command, and names it after its script", () => {
  assertEquals(payloads("node x.js"), [{ name: "x", cwd: "/srv", command: "node x.js" }]);
  const [npm] = payloads("npm run web", "--name", "web", "--", "a b");
  assertEquals(npm, { name: "web", cwd: "/srv", command: "npm run web 'a b'" });
  assertEquals(payloads("PORT=1 ./bin/serve")[0]?.name, "serve");
  assertEquals(payloads("my app.py")[0]?.entrypoint, "/srv/my app.py");
});

Deno.test("startPayloads() accepts the name of a shell variable", () => {
  const [payload] = payloads("api.ts", "-e", "TOKEN", "-e", "PORT=1");
  assertEquals(payload?.env, { TOKEN: "of=shell", PORT: "1" });
  const { message } = refused("api.ts", "-e", "PORT");
  assertEquals(message.endsWith("or the name of a variable that is set here"), true);
});

Deno.test("startPayloads() accepts ports that the instances share", () => {
  const [payload] = payloads("api.ts", "-i", "2", "--socket", "127.0.0.1:8080", "--socket", ":81");
  assertEquals(payload?.sockets, ["127.0.0.1:8080", ":81"]);
});
