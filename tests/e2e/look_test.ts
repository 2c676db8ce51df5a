/** A look at a configuration runs nothing that it names, as no user. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { cliIn, TestDaemon } from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";

const PROGRAMS = (
  "node deno bun python3 ruby php go bundle npx tsx mine sh env nice getent setpriv timeout"
).split(" ");

/** A folder of a project whose programs leave a mark when they run. */
function trap(folder: string): string {
  const mark = `${folder}/mark`;
  const script = `#!/bin/sh\necho "$0 $*" >> ${mark}\necho v20.0.0\n`;
  Deno.mkdirSync(`${folder}/bin`);
  for (const name of PROGRAMS) {
    Deno.writeTextFileSync(`${folder}/bin/${name}`, script, { mode: 0o755 });
  }
  for (const name of ["a.ts", "a.js", "a.py", "a.rb", "a.php", "main.go", "package.json"]) {
    Deno.writeTextFileSync(`${folder}/${name}`, "{}");
  }
  Deno.writeTextFileSync(`${folder}/key`, `${"k".repeat(32)}\n`);
  Deno.writeTextFileSync(`${folder}/app.env`, "A=1\n");
  const entries: Record<string, object> = {
    typescript: { entrypoint: "a.ts" },
    node: { entrypoint: "a.ts", runtime: "node" },
    javascript: { entrypoint: "a.js" },
    bun: { entrypoint: "a.ts", runtime: "bun" },
    deno: { entrypoint: "a.ts", runtime: "deno" },
    python: { entrypoint: "a.py" },
    ruby: { entrypoint: "a.rb" },
    bundled: { entrypoint: "a.rb", use_bundle: true },
    php: { entrypoint: "a.php" },
    go: { entrypoint: "main.go" },
    interpreter: { entrypoint: "a.ts", interpreter: "./bin/node" },
    program: { entrypoint: "bin/mine" },
    command: { command: "mine serve" },
    job: { entrypoint: "bin/mine", cron: "0 3 * * *" },
    stopped: { entrypoint: "bin/mine", autostart: false },
    secret: {
      entrypoint: "bin/mine",
      secrets: { A: { command: "./bin/mine secret" } },
      env_file: "app.env",
    },
    hooks: { entrypoint: "bin/mine", hooks: { pre_start: "./bin/mine hook" } },
    health: {
      entrypoint: "bin/mine",
      health_check: { type: "command", command: "./bin/mine health" },
    },
    watch: { entrypoint: "bin/mine", watch: true, ready_log: "up" },
    group: { entrypoint: "a.ts", instances: 3, wait_ready: true },
    ...Deno.uid() === 0 && { user: { entrypoint: "a.ts", uid: 65534, gid: 65534 } },
  };
  const env = { PATH: `${folder}/bin:/usr/bin:/bin` };
  const webhooks = {
    printed: { url: "https://hooks.example.com/", secret: { command: "./bin/mine webhook" } },
    read: { url: "https://hooks.example.com/", secret: { file: "key" } },
  };
  const file = { defaults: { env }, processes: entries, webhooks };
  Deno.writeTextFileSync(`${folder}/procsup.yaml`, JSON.stringify(file));
  Deno.chmodSync(folder, 0o755);
  return mark;
}

function marksIn(mark: string): string {
  try {
    return Deno.readTextFileSync(mark);
  } catch {
    return "";
  }
}

Deno.test("validate, plan and dry runs, with and without a daemon, run nothing that a file names", async () => {
  await using daemon = await TestDaemon.start();
  await using project = tempHome();
  await using absent = tempHome();
  const mark = trap(project.path);
  const file = `${project.path}/procsup.yaml`;
  const plan = await daemon.client.call("config_reload", { config_path: file, dry_run: true });
  assertEquals([plan.status, plan.added.length > 19], ["planned", true]);
  const text = Deno.readTextFileSync(file);
  await daemon.client.call("config_reload", { content: { file, text }, dry_run: true });
  for (const home of [daemon.home, absent.path]) {
    const env = { PATH: `${project.path}/bin:${Deno.env.get("PATH")}` };
    const looks = [["config", "validate"], ["config", "plan"], ["up", "--dry-run"]];
    for (const words of looks) {
      const { code, stderr } = await cliIn(home, env, ...words, file);
      assertEquals([code, marksIn(mark)], [0, ""], `${words}: ${stderr}`);
    }
  }
  assertEquals(marksIn(mark), "");
  // The trap works: a real start runs the commands of secrets.
  const error = await daemon.client.call("start_all", { config: file }).catch(String);
  assertStringIncludes(marksIn(mark), "mine secret", String(error));
});

Deno.test("validate tells what up would fail at, and warns of what only this machine lacks", async () => {
  await using folder = tempHome();
  const apps = {
    a: { command: "sleep 1", env_file: "missing.env", secrets: { A: { file: "missing.key" } } },
    b: { command: "sleep 1", secrets: { B: { env: "NOT_SET_HERE" } }, limits: { nofile: 1e12 } },
    c: { command: "sleep 1", uid: "nosuchuser" },
    d: { command: "sleep 1", increment_env: "PORT" },
  };
  const web = { tls: { cert: "missing.pem", key: "missing.pem" } };
  const webhooks = { ops: { url: "https://hooks.example.com/", secret: { file: "missing.ops" } } };
  const file = `${folder.path}/procsup.yaml`;
  const write = (value: unknown) => Deno.writeTextFileSync(file, JSON.stringify(value));
  write({ processes: apps, web, webhooks });
  const home = `${folder.path}/home`;
  const { code, stderr } = await cliIn(home, {}, "config", "validate", file);
  assertEquals(code, 2, stderr);
  const missing = ["missing.env", "missing.key", "nosuchuser", "increment_env", "missing.pem"];
  for (const what of [...missing, "missing.ops"]) assertStringIncludes(stderr, what);
  write({ processes: { b: apps.b } });
  const warned = await cliIn(home, {}, "config", "validate", file);
  assertEquals(warned.code, 0, warned.stderr);
  for (const what of ["warning: ", "NOT_SET_HERE", "limits.nofile"]) {
    assertStringIncludes(warned.stderr, what);
  }
});
