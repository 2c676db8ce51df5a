/** Attacks by configurations that root only looks at, and by those that name users, files and targets. */

import { cliIn } from "../../../tests/support/procsup.ts";
import { waitFor } from "../../../tests/support/wait_for.ts";
import type { WebAnswer } from "../../../tests/support/web.ts";
import { ALICE, type Attack, BOB, brief, holds, Lacking, run, type Scene } from "./scene.ts";

/** A folder of bob with programs that leave a mark, and a file whose every key names one. */
function trap({ path }: Scene): { readonly file: string; readonly marks: () => string } {
  const mark = `${path}/mark`;
  const bin = `${path}/bin`;
  Deno.mkdirSync(bin);
  for (const name of ["node", "deno", "python3", "sh", "env", "nice", "getent", "secret"]) {
    const script = `#!/bin/sh\necho "$0 by $(/usr/bin/id -u)" >>${mark}\necho v22.18.0\n`;
    Deno.writeTextFileSync(`${bin}/${name}`, script);
    Deno.chmodSync(`${bin}/${name}`, 0o755);
  }
  Deno.writeTextFileSync(`${path}/app.ts`, "");
  const app = { entrypoint: "app.ts", runtime: "node", env: { PATH: `${bin}:/usr/bin:/bin` } };
  const processes = {
    theirs: { ...app, ...BOB, secrets: { A: { command: "./bin/secret" } } },
    ours: { ...app, hooks: { pre_start: "./bin/secret" } },
    cloned: { entrypoint: "app.ts", interpreter: "./bin/node" },
  };
  const webhooks = { a: { url: "https://x.example/", secret: { command: "./bin/secret" } } };
  const file = `${path}/procsup.yaml`;
  Deno.writeTextFileSync(file, JSON.stringify({ processes, webhooks }));
  const marks = () => {
    try {
      return Deno.readTextFileSync(mark);
    } catch {
      return "";
    }
  };
  return { file, marks };
}

/** Programs of the system that procsup itself uses, by their absolute paths. */
const OWN = /^\/usr\/s?bin\/(getent|env|nice)$/;

/** A file with apps of every kind, whose programs are all in the folder. */
function everyKind({ path }: Scene): { readonly file: string; readonly kinds: number } {
  const bin = `${path}/bin`;
  Deno.mkdirSync(bin);
  const programs = [
    "node",
    "deno",
    "bun",
    "python3",
    "python",
    "ruby",
    "php",
    "java",
    "perl",
    "uv",
  ];
  for (const name of [...programs, "bash", "sh", "env", "nice", "setpriv", "tool"]) {
    Deno.writeTextFileSync(`${bin}/${name}`, "#!/bin/sh\necho v22.18.0\n");
    Deno.chmodSync(`${bin}/${name}`, 0o755);
  }
  const files = ["a.js", "a.mjs", "a.ts", "a.py", "a.rb", "a.php", "a.jar", "a.pl", "a.sh"];
  for (const name of files) Deno.writeTextFileSync(`${path}/${name}`, "#!/usr/bin/env tool\n");
  Deno.chmodSync(`${path}/a.sh`, 0o755);
  Deno.writeTextFileSync(`${path}/.env`, "A=1\n");
  const tool = "./bin/tool";
  const command = { command: tool };
  const env = { PATH: `${bin}:/usr/bin:/bin` };
  const own: readonly object[] = [
    ...files.map((entrypoint) => ({ entrypoint })),
    ...["node", "deno", "bun"].map((runtime) => ({ entrypoint: "a.ts", runtime })),
    { entrypoint: "a.sh", interpreter: "./bin/bash" },
    { entrypoint: tool, hooks: { pre_start: tool, post_start: tool, post_stop: tool } },
    { entrypoint: tool, health_check: { type: "command", ...command } },
    { entrypoint: tool, secrets: { A: command }, env_file: ".env" },
    { entrypoint: tool, cron: { schedule: "0 0 1 1 *" } },
    { entrypoint: tool, ...BOB, secrets: { A: command } },
    { entrypoint: "tool", watch: { paths: ["."] }, limits: { nofile: 100 } },
    { entrypoint: "a.js", ...ALICE, nice: 5 },
  ];
  const processes = Object.fromEntries(own.map((one, i) => [`app${i}`, { env, ...one }]));
  const webhooks = { a: { url: "https://x.example/", secret: command } };
  const file = `${path}/procsup.yaml`;
  Deno.writeTextFileSync(file, JSON.stringify({ processes, webhooks }));
  return { file, kinds: own.length };
}

/** Plans a file over the socket, REST and MCP, and looks after each. Returns the answer of REST. */
async function dryRuns(
  scene: Scene,
  file: string,
  look: (way: string) => void = () => {},
): Promise<WebAnswer> {
  const { client } = scene.daemon;
  await client.call("config_reload", { config_path: file, dry_run: true }).catch(() => {});
  look("socket");
  const token = await scene.token("admin");
  const body = { content: { file, text: Deno.readTextFileSync(file) }, dry_run: true };
  const answer = await scene.ask(token, "POST", "/api/v1/config/reload", body);
  look("REST");
  const params = { name: "apply_config", arguments: { path: file, plan: true } };
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
  const accept = { accept: "application/json, text/event-stream" };
  await scene.ask(token, "POST", "/mcp", call, accept);
  look("MCP");
  return answer;
}

export const looks: Readonly<Record<string, Attack>> = {
  async "root validates and plans the configuration of another user"(scene) {
    const { file, marks } = trap(scene);
    for (const words of [["validate"], ["plan"], ["apply", "--dry-run"]]) {
      const env = { PATH: `${scene.path}/bin:${Deno.env.get("PATH")}` };
      const { code, stderr } = await cliIn(scene.daemon.home, env, "config", ...words, file);
      holds(code === 0, `config ${words}: ${brief(stderr)}`);
      holds(marks() === "", `config ${words.join(" ")}: ${brief(marks())}`);
    }
    return "validate, plan and --dry-run ran nothing of it";
  },

  async "what validate, plan and dry runs execute, by strace, for apps of every kind"(scene) {
    const { file, kinds } = everyKind(scene);
    const traced = `${scene.path}/traced`;
    const strace = ["-f", "-qq", "-e", "trace=execve,execveat", "-o", traced];
    const env = { PROCSUP_HOME: scene.daemon.home, PATH: `${scene.path}/bin:/usr/bin:/bin` };
    const executed = () =>
      [
        ...new Set(
          Array.from(
            Deno.readTextFileSync(traced).matchAll(/execve\w*\([^"]*"([^"]*)"/g),
            ([, p]) => p!,
          ),
        ),
      ].filter((path) => path !== "/tmp/procsup" && path !== Deno.execPath() && !OWN.test(path));
    const commands = [["validate"], ["plan"], ["apply", "--dry-run"]];
    for (const words of commands) {
      const args = [...strace, "/tmp/procsup", "config", ...words, file];
      const { text } = await run("/usr/bin/strace", { args, env, cwd: "/" }).catch(() => {
        throw new Lacking("strace");
      });
      if (/ptrace|not permitted/.test(text)) throw new Lacking(`strace (${brief(text)})`);
      holds(executed().length === 0, `config ${words.join(" ")}: ${executed()}`);
    }
    const args = [...strace, "-p", String(scene.daemon.pid)];
    const tracer = new Deno.Command("/usr/bin/strace", { args, stderr: "null" }).spawn();
    await waitFor(() =>
      !/TracerPid:\t0\n/.test(Deno.readTextFileSync(`/proc/${scene.daemon.pid}/status`))
    );
    await dryRuns(scene, file);
    tracer.kill("SIGTERM");
    await tracer.status;
    holds(executed().length === 0, `the daemon: ${executed()}`);
    return `${kinds} apps, ${commands.length} commands, 3 dry runs of the daemon: nothing of it`;
  },

  async "dry runs over the socket, REST and MCP"(scene) {
    const { file, marks } = trap(scene);
    const look = (way: string) => holds(marks() === "", `${way}: ${brief(marks())}`);
    const { status, text } = await dryRuns(scene, file, look);
    return `nothing ran; REST answered ${status} ${brief(text).slice(0, 40)}`;
  },

  async "ids that the system reads as root's or another user's"(scene) {
    const ids = [2 ** 32, 2 ** 32 - 1, 2 ** 32 + 5, -1, "00", "+0", "-4294967296", " 0", "0x0"];
    for (const id of ids) {
      for (const key of ["uid", "gid"]) {
        const name = "mine";
        const config = { name, entrypoint: "/bin/sleep", args: ["1000"], cwd: "/", [key]: id };
        const error = await scene.daemon.client.call("start", config).then(() => "", String);
        holds(error !== "", `${key} ${JSON.stringify(id)} was started`);
      }
    }
    return `${ids.length} ids refused, as uid and as gid`;
  },

  async "an app with a uid reads the session keyring of root"(scene) {
    const { path, daemon } = scene;
    const number = { x86_64: 250, aarch64: 219 }[Deno.build.arch as string];
    if (number === undefined) throw new Lacking("another architecture");
    // Adds a key to the session keyring that the daemon of this shell inherits.
    const add = `my ($t, $n, $v) = ("user", "root-key", "s3cret"); ` +
      `print syscall(${
        number - 2
      }, $t, $n, $v, 6, -3), "\\n"; system("/tmp/procsup daemon --detach")`;
    await daemon.client.call("shutdown");
    const env = { PROCSUP_HOME: daemon.home };
    const { text } = await run("perl", { args: ["-e", add], env, cwd: "/" });
    if (!/^\d+/.test(text)) throw new Lacking("keyrings in this namespace");
    const look =
      `my ($t, $n) = ("user", "root-key"); my $k = syscall(${number}, 10, -3, $t, $n, 0); ` +
      `my $v = " " x 6; syscall(${number}, 11, $k, $v, 6) if $k > 0; print "$k $v\\n"`;
    Deno.writeTextFileSync(`${path}/look.pl`, look, { mode: 0o644 });
    const script = (into: string) => `perl ${path}/look.pl >${into}; exec sleep 1000`;
    await daemon.startScript("theirs", script(`${path}/theirs`), { cwd: path, ...BOB });
    await daemon.startScript("ours", script(`${path}/ours`), { cwd: path });
    const told = async (name: string) => {
      await waitFor(() => Deno.readTextFileSync(`${path}/${name}`).endsWith("\n"), { what: name });
      return Deno.readTextFileSync(`${path}/${name}`).trim();
    };
    const [theirs, ours] = [await told("theirs"), await told("ours")];
    holds(theirs.startsWith("-1"), `it found the key: ${theirs}`);
    return `its app found none; root's own app: ${ours.startsWith("-1") ? "none" : "the key"}`;
  },

  async "words that are targets, and files of these names in the folder"(scene) {
    const { path, daemon } = scene;
    const words = ["all", "0", "tag:x", "ns:default", "app:0", "label:a=b"];
    for (const word of words) {
      Deno.writeTextFileSync(`${path}/${word}`, `#!/bin/sh\necho ${word} >>${path}/ran\n`);
      Deno.chmodSync(`${path}/${word}`, 0o755);
    }
    const env = { PROCSUP_HOME: daemon.home };
    for (const word of words) {
      const args = ["start", word, "--no-wait"];
      await new Deno.Command("/tmp/procsup", {
        args,
        cwd: path,
        env,
        stdout: "null",
        stderr: "null",
      })
        .output();
    }
    const names = (await daemon.client.call("list")).map(({ name }) => name);
    holds(names.join() === "app", `started: ${names}`);
    return `${words.length} words started no file`;
  },

  async "a unit at boot for a program that another user owns"(scene) {
    const folder = scene.folderOf(BOB);
    const env = { PATH: `${folder}:/usr/bin:/bin` };
    const shown = await cliIn(scene.daemon.home, env, "startup");
    const unit = shown.stdout;
    if (unit === "") throw new Lacking("a service manager");
    holds(!unit.includes(folder), `PATH of the unit has ${folder}`);
    return "bob's folder is not in the PATH of the unit";
  },

  async "a token that may read sees secrets of a configuration"(scene) {
    const token = await scene.token("read");
    await scene.daemon.startScript("mine", "exec sleep 1000", {
      env: { A: "s3cret-env" },
      health_check: { type: "http", url: "http://me:s3cret-url@127.0.0.1:8999/?k=s3cret-query" },
    });
    for (
      const path of ["/processes", "/processes/mine", "/events?limit=1", "/processes/mine/why"]
    ) {
      const { text } = await scene.ask(token, "GET", `/api/v1${path}`);
      const found = /s3cret-\w+/.exec(text)?.[0];
      holds(found === undefined, `${path} has ${found}`);
    }
    return "no value of env, and no secret part of a URL";
  },

  async "huge files of keys, and a module that prints without an end"(scene) {
    const { path, daemon } = scene;
    const keys = Array.from({ length: 80_000 }, (_, i) => `k${i}: 1\n`).join("");
    const content = { file: `${path}/a.yaml`, text: keys };
    const asked = daemon.client.call("config_reload", { content, dry_run: true }).catch(() => {});
    const ping = await scene.longestPing(asked);
    const file = `${path}/procsup.config.ts`;
    Deno.writeTextFileSync(file, 'const t = "x".repeat(2 ** 20);\nfor (;;) console.log(t);\n');
    await daemon.client.call("config_reload", { config_path: file, dry_run: true }).catch(() => {});
    const memory = scene.memory();
    holds(ping < 4000 && memory < 400, `no answer for ${ping} ms, ${memory} MiB`);
    return `longest ping ${ping} ms, ${memory} MiB`;
  },

  async "a watched path becomes a link to a folder that the app's user cannot read"(scene) {
    const folder = scene.folderOf(BOB);
    const closed = scene.folderOf(ALICE, "alice");
    Deno.chmodSync(closed, 0o700);
    Deno.writeTextFileSync(`${closed}/a`, "");
    await scene.as(BOB, `ln -s ${closed} link`, folder);
    await scene.daemon.startScript("mine", "exec sleep 1000", {
      ...{ cwd: folder, ...BOB, watch: { paths: ["link"] } },
    });
    const id = (await scene.daemon.status("mine")).pid;
    const watches = () =>
      [...Deno.readDirSync(`/proc/${scene.daemon.pid}/fdinfo`)].flatMap(({ name }) => {
        try {
          return Deno.readTextFileSync(`/proc/${scene.daemon.pid}/fdinfo/${name}`).split("\n");
        } catch {
          return [];
        }
      }).filter((line) => line.startsWith("inotify"));
    await waitFor(() => Deno.readTextFileSync(`${scene.daemon.home}/daemon.log`) !== "");
    const inode = Deno.statSync(closed).ino!.toString(16);
    holds(!watches().some((line) => line.includes(` ino:${inode} `)), "root watches it");
    return `not watched; the app runs, pid ${id}`;
  },
};
