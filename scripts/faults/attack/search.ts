/** Attacks by texts that are searched, parsed as configuration, or displayed. */

import { Random } from "../chaos/random.ts";
import { waitFor } from "../../../tests/support/wait_for.ts";
import { type Attack, BOB, brief, holds, type Scene, within } from "./scene.ts";

/** Control characters that a terminal interprets. */
// deno-lint-ignore no-control-regex
const CONTROL = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/;

const APP = "/api/v1/processes/mine";

/** Fills the log of an app. */
async function writeLog(scene: Scene, bytes: number, line = 2000): Promise<void> {
  const perl = `print +("abcdefg " x ${line / 8})."\\n" for 1..${Math.ceil(bytes / (line + 1))}`;
  const log = { max_size: "100MB" };
  await scene.daemon.startScript("mine", `perl -e '${perl}'; exec sleep 1000`, { log });
  const path = `${scene.daemon.home}/apps/mine/stdout.log`;
  await waitFor(() => Deno.statSync(path).size >= bytes, { timeoutMs: 30_000, what: path });
}

/** Searches the log. Returns the longest ping meanwhile, in milliseconds. */
async function grep(scene: Scene, pattern: string, token = scene.web.token): Promise<number> {
  const query = `lines=10&grep=${encodeURIComponent(pattern)}`;
  return await scene.longestPing(scene.ask(token, "GET", `${APP}/logs?${query}`));
}

/** Starts an app with a text as its env_file. Returns the longest ping meanwhile, in milliseconds. */
async function readEnvironment(scene: Scene, text: string): Promise<number> {
  const cwd = scene.folderOf(BOB);
  Deno.writeTextFileSync(`${cwd}/.env`, text);
  Deno.chmodSync(`${cwd}/.env`, 0o644);
  const config = { cwd, ...BOB, env_file: [".env"], restart_policy: "never" };
  return await scene.longestPing(scene.daemon.startScript("mine", "exit 0", config));
}

function abortable(): { signal: AbortSignal; abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

export const search: Readonly<Record<string, Attack>> = {
  async "a read token greps for many words at once"(scene) {
    await writeLog(scene, 8e6, 4e6);
    // At every character of the log, each alternative fails only at its last one.
    let ping = 0;
    for (const count of [8, 150]) {
      const words = Array.from({ length: count }, (_, i) => `${"[a-g ]".repeat(12)}${i}`);
      ping = Math.max(ping, await grep(scene, words.join("|")));
    }
    holds(ping < 1000, `longest ping ${ping} ms`);
    return `longest ping ${ping} ms`;
  },

  async "a read token greps with nested repetitions and classes"(scene) {
    await writeLog(scene, 4e6);
    let worst = 0;
    const token = await scene.token("read");
    for (const pattern of ["(a+)+$", "[a-z].{200}[A-Z]", "(a*)*Q", "[ag].{20}[gQ]|Q"]) {
      const query = `lines=10&grep=${encodeURIComponent(pattern)}`;
      const asked = scene.ask(token, "GET", `${APP}/logs?${query}`);
      worst = Math.max(worst, await scene.longestPing(asked));
    }
    holds(worst < 1000, `longest ping ${worst} ms`);
    return `longest ping ${worst} ms`;
  },

  async "searches of a read token on every surface, and a stop"(scene) {
    // No state of the expression repeats, so each character costs time in proportion to its length.
    const random = new Random(7);
    const letters = Array.from({ length: 1000 }, () => random.pick([..."abcxyz "])).join("");
    await scene.daemon.startScript("mine", "exec sleep 1000", { log: { max_size: "1GB" } });
    const path = `${scene.daemon.home}/apps/mine/stdout.log`;
    await Deno.writeTextFile(path, `${letters}\n`.repeat(20_000));
    const [token, pattern] = [await scene.token("read"), "[a-c].{250}[0-9]"];
    const { signal, abort } = abortable();
    const headers = { authorization: `Bearer ${token}` };
    const query = `lines=10&grep=${encodeURIComponent(pattern)}`;
    const urls = [`${APP}/logs?${query}`, `/api/v1/logs?target=mine&${query}`];
    const asked = [...urls, ...urls].map((url) =>
      fetch(scene.web.url + url, { headers, signal }).then((answer) => answer.text()).catch(
        () => {},
      )
    );
    const begun = performance.now();
    await within(5000, "a stop", scene.daemon.client.call("stop", { target: "app" }));
    const took = Math.round(performance.now() - begun);
    abort();
    await Promise.all(asked);
    return `the stop took ${took} ms`;
  },

  async "a line of 60 kB of blanks in an env_file"(scene) {
    const ping = await readEnvironment(scene, `A=x${" ".repeat(60_000)}y\n`);
    holds(ping < 1000, `longest ping ${ping} ms`);
    return `longest ping ${ping} ms`;
  },

  async "thousands of quotes, blanks and hashes in an env_file"(scene) {
    const parts = ['"\\', " #", "'", "\t", '"', "\\n", "export "];
    const text = parts.map((part) => `A="${part.repeat(60_000 / part.length)}`).join("\n");
    const ping = await readEnvironment(scene, text);
    holds(ping < 1000, `longest ping ${ping} ms`);
    return `longest ping ${ping} ms`;
  },

  async "control sequences in tags, names, logs and reasons"(scene) {
    const { daemon } = scene;
    const evil = "\x1b]0;owned\x07\x9b31m\x1b[2J";
    await daemon.startScript("mine", `printf 'a\\033[2J\\302\\233b\\n'; exec sleep 1000`, {
      ...{ tags: [`t${evil}`], labels: { l: evil }, namespace: "n", env: { A: evil } },
    }).catch(() => daemon.startScript("mine", `printf 'a\\033[2J\\302\\233b\\n'; exec sleep 1000`));
    await daemon.startScript("bad", "exit 1", { cwd: `/no${evil}`, restart_policy: "never" })
      .catch(() => {});
    await waitFor(() => Deno.statSync(`${daemon.home}/apps/mine/stdout.log`).size > 0);
    const commands = [
      ...[
        "status mine",
        "list",
        "why bad",
        "events --until now",
        "status mine --json",
        "list --json",
      ],
      ...[
        "logs mine --json",
        "events --json --until now",
        "why bad --json",
        "history mine",
        "config plan",
      ],
    ];
    for (const command of commands) {
      const { stdout, stderr } = await daemon.cli(...command.split(" "));
      const found = CONTROL.exec(stdout + stderr)?.[0];
      holds(found === undefined, `procsup ${command} prints ${JSON.stringify(found)}`);
    }
    return `${commands.length} commands: no control character`;
  },

  async "configuration errors show values of env"(scene) {
    const file = `${scene.path}/procsup.yaml`;
    const app = "processes:\n  a:\n    entrypoint: /bin/true\n";
    for (
      const text of [
        `${app}    env: { PASSWORD: [hunter2] }\n`,
        `${app}    env: hunter2\n`,
        `${app}    env: [PASSWORD=hunter2]\n`,
        `${app}    env: { "PASS=hunter2": x }\n`,
        `${app}    env: { PASSWORD: "hunter2\\0" }\n`,
        `${app}    env: { PASSWORD: hunter2\n`,
      ]
    ) {
      Deno.writeTextFileSync(file, text);
      const { stdout, stderr, code } = await scene.daemon.cli("config", "validate", file);
      holds(code !== 0, `accepted: ${text.split("\n")[3]}`);
      const isTold = (stdout + stderr).includes("hunter2");
      holds(!isTold || text.includes("env: hunter2"), `told: ${brief(stderr || stdout)}`);
    }
    return "6 errors, no value";
  },

  async "YAML that contains itself, and other bombs"(scene) {
    const bombs = [
      "processes: &a\n  x: *a\n",
      "processes: &a [1, *a, *a]\n",
      `a: &a [x,x,x,x,x,x,x,x,x]\n${
        Array.from("bcdefghi", (name, i) => {
          const before = "abcdefgh"[i];
          return `${name}: &${name} [${`*${before},`.repeat(9)}]\n`;
        }).join("")
      }processes: *i\n`,
      "[".repeat(50_000),
      `processes: {${"a: {".repeat(20_000)}`,
    ];
    for (const text of bombs) {
      for (const name of ["procsup.yaml", "procsup.json"]) {
        const body = { content: { file: `/tmp/${name}`, text }, dry_run: true };
        const asked = scene.ask(scene.web.token, "POST", "/api/v1/config/reload", body);
        const { status } = await within(10_000, "an answer", asked);
        holds(status >= 400 && status < 500, `${name}: ${status} for ${brief(text)}`);
      }
    }
    return `${bombs.length * 2} files: all 4xx`;
  },

  async "flush of an app that never ran"(scene) {
    const config = {
      name: "job",
      entrypoint: "/bin/true",
      cwd: "/",
      cron: { schedule: "0 0 1 1 *" },
    };
    await scene.ask(scene.web.token, "POST", "/api/v1/processes", config);
    const { status, text } = await scene.ask(
      scene.web.token,
      "POST",
      "/api/v1/processes/job/flush",
    );
    holds(status === 200, `${status} ${brief(text)}`);
    return "200";
  },
};
