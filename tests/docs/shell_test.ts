/**
 * Runs the `sh` blocks of README.md and the documentation, line by line, in a shell with sample
 * apps. Several pages share a daemon and a folder, which are emptied between them. Lines that cannot
 * run here are listed.
 */

import { assertEquals } from "@std/assert";
import { parse } from "yaml";
import { freePort } from "../support/http_load.ts";
import { denoDir, programLine, TestDaemon } from "../support/procsup.ts";
import { type TempHome, tempHome } from "../support/temp_home.ts";
import { type Example, examplesIn } from "./examples.ts";

const [ENGINE, MACHINE, SERVICE, FETCHED, RELEASE, TERMINAL, CHECKOUT] = [
  "docker or a cluster: deno task test:swarm, tests/export",
  "another machine by ssh: tests/e2e/ssh_test.ts",
  "writes for the machine, as root: tests/e2e/install_test.ts, deno task test:boot",
  "a repository, another folder or machine: tests/e2e/release_test.ts",
  "a folder outside the sample apps: tests/e2e/linked_folder_test.ts",
  "a terminal: tests/e2e/top_test.ts, tests/e2e/attach_test.ts",
  "works on the checkout, for minutes or with the network: deno task",
];

/** Lines that are not run, exactly as printed, and why. */
const SKIPPED: Readonly<Record<string, readonly string[]>> = {
  [ENGINE]: [
    "docker build -f scripts/docker/Dockerfile -t procsup .",
    "procsup image --tag registry.example.com/shop:1.4",
    "procsup up --on swarm --image registry.example.com/shop:1.4",
    "procsup list --on swarm",
    "procsup up --on swarm --image registry.example.com/shop:1.5",
    "procsup logs api -f --on swarm",
    "procsup why api --on swarm",
    "procsup scale api 5 --on swarm",
    "procsup reload api --on swarm",
    "procsup down --on swarm",
    "procsup up --on kubernetes --image registry.example.com/shop:1.4",
    "procsup image procsup.yaml --tag shop:1 --base debian:bookworm-slim --builder podman",
    'docker run -v "$PWD:/app" procsup',
    "docker run procsup -- sh -c 'echo hello'",
    "docker run --read-only --tmpfs /tmp procsup",
  ],
  [MACHINE]: [
    "procsup --host web1 list",
    "procsup list --all-contexts",
    "procsup --host deploy@web1.example.com list",
    "procsup --host web1 logs api -f",
    "rsync -a ./ deploy@web1:/srv/shop/",
    "procsup --host deploy@web1 up /srv/shop/procsup.yaml",
    "procsup --host deploy@web1 start /srv/tools/worker.js --name worker",
  ],
  [SERVICE]: [
    "procsup startup status",
    "procsup startup install",
    "procsup startup install --user",
    "procsup startup uninstall",
    "procsup completion bash > /etc/bash_completion.d/procsup",
  ],
  [FETCHED]: [
    "procsup release api --from git@example.com:shop.git#v2 --build 'npm ci' --test 'npm test'",
    "procsup release api --from /srv/build/shop",
    "procsup release api --from ./dist",
    "procsup release api",
    "procsup release undo api",
    "procsup release api --hosts web1,web2",
  ],
  [RELEASE]: [
    "ln -sfn releases/42 /srv/shop/current && cd /srv/shop/current",
  ],
  [TERMINAL]: [
    "procsup attach console",
    "procsup top",
    "procsup help --man | man -l -",
    "procsup top --interval 2s",
    "procsup web open",
  ],
  [CHECKOUT]: [
    "npx -y deno@2.9.6 task demo",
    "npx -y deno@2.9.6 task test",
    "deno task compile && scripts/install.sh --from dist",
    "deno run -A scripts/npm_package.ts",
    "npm pack ./dist/npm && npm install -g ./procsup-*.tgz",
    'alias procsup="deno run -A $PWD/main.ts"',
    "deno task demo",
    "deno task chaos --minutes 5 --seed 7",
    "deno task attack",
    "deno task compile",
    "deno info main.ts",
    "deno run -A scripts/publish.ts --dry-run",
    "deno run -A scripts/npm_client.ts",
    "scripts/install.sh --from dist",
    "scripts/install.sh --uninstall",
    "deno task bench",
  ],
};

/** Commands that run until Ctrl-C: ended after their first output. */
const ENDLESS =
  /^procsup (logs|events|list) .*(-f\b|--watch)|^procsup daemon$|^procsup run\b(?! -- sh)|^curl .*\/events$/;

const SLEEP = "#!/bin/sh\nexec sleep 1000\n";
const PROGRAMS = ["caddy", "rails", "java", "npm", "page-someone"];

const FILES: Readonly<Record<string, string>> = {
  ".curlrc": "silent\nshow-error\nfail\nno-buffer\n",
  "webhook.key": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  "dist/index.html": "<h1>served</h1>\n",
  "server.js": "console.log('listening');\nsetInterval(() => {}, 1000);\n",
  "worker.js": "setInterval(() => {}, 1000);\n",
  "api.ts": "setInterval(() => {}, 1000);\n",
  "server.py": "import time\ntime.sleep(1000)\n",
  "backup.sh": "#!/bin/sh\necho saved\n",
  "sleep.sh": SLEEP,
  "talk.sh": "#!/bin/sh\ntrap '' HUP USR1\necho error: GET /orders: timeout\nexec sleep 1000\n",
  "echo.sh": "#!/bin/sh\nexec cat\n",
  Procfile: "web: sleep 1000\n",
  "compose.yaml": "services:\n  app: { image: app, command: sleep 1000, build: . }\n",
  "docker-compose.yml": "services:\n  app: { image: app, command: sleep 1000, build: . }\n",
  "ecosystem.config.js": "module.exports = { apps: [{ name: 'app', script: './server.js' }] };\n",
  "supervisord.conf": "[program:app]\ncommand=sleep 1000\n",
  ".pm2/dump.pm2": '[{ "name": "app", "pm_exec_path": "/bin/sleep", "args": ["1000"] }]\n',
  "circus.ini": "[watcher:app]\ncmd = sleep 1000\n",
  "pup.json": '{ "processes": [{ "id": "app", "cmd": "sleep 1000", "autostart": true }] }\n',
  "mprocs.yaml": "procs: { app: sleep 1000 }\n",
  "process-compose.yaml": "processes: { app: { command: sleep 1000 } }\n",
  "api.service": "[Service]\nExecStart=/bin/sleep 1000\n",
  "backup.service": "[Service]\nType=oneshot\nExecStart=/bin/true\n",
  "backup.timer": "[Timer]\nOnCalendar=daily\n",
  app: "0 4 * * * root /bin/true\n",
  "other.yaml": "processes:\n  other: { entrypoint: ./sleep.sh }\n",
  "procsup.yaml": `defaults: { min_uptime: 20ms }
profiles: { dev: { processes: {} } }
processes:
  api: { entrypoint: ./talk.sh, instances: 3, namespace: shop, tags: [web] }
  web: { entrypoint: ./sleep.sh, instances: 2, labels: { team: search } }
  worker: { entrypoint: ./sleep.sh }
  game: { entrypoint: ./echo.sh, stdin: true }
  console: { entrypoint: ./echo.sh, tty: true }
  backup: { entrypoint: ./backup.sh, cron: "0 4 * * *" }
  job: { entrypoint: ./backup.sh, restart_policy: never }
  migrate: { entrypoint: ./backup.sh, restart_policy: never }
`,
};

/** The commands of a block, as printed, without comments. */
function linesOf({ text }: Example): string[] {
  return text.replaceAll(/\\\n\s*/g, "").split("\n")
    .map((line) => line.replace(/(^|\s+)#\s.*$/, "").trim()).filter((line) => line !== "");
}

const BLOCKS = examplesIn("sh");
const NOT_RUN = new Set(Object.values(SKIPPED).flat());

Deno.test("each skipped line is in the examples, and listed once", () => {
  const printed = new Set(BLOCKS.flatMap(linesOf));
  const named = Object.values(SKIPPED).flat();
  assertEquals(named.filter((line, at) => !printed.has(line) || named.indexOf(line) !== at), []);
});

/** A shell script that ends each command with a marker and its exit code. */
function scriptOf(
  lines: readonly string[],
  { url, folder, receiver }: { url: string; folder: string; receiver: string },
): string {
  const steps = lines.map((line) => {
    const here = line
      .replaceAll(
        /(?<=\s)\/(tmp|var\/log|etc\/(supervisor|systemd\/system|cron\.d))\//g,
        `${folder}/`,
      )
      .replaceAll("/srv/web", folder)
      .replace(
        /^procsup serve (.*?)( --port \d+)?$/,
        (_, words) => `procsup serve ${words} --port ${freePort()}`,
      )
      .replace(/--socket \d+/, () => `--socket ${freePort()}`)
      .replaceAll("http://127.0.0.1:9615", url)
      .replaceAll(
        /127\.0\.0\.1:\d+/g,
        (address) => url.endsWith(address) ? address : "127.0.0.1:0",
      )
      .replace(/https:\/\/\S*/, receiver);
    return `${ENDLESS.test(here) ? `(until_output ${here})` : here}\nprintf '\\036%s\\n' $?\n`;
  });
  return `exec 2>&1
until_output() {
  rm -f output pipe && mkfifo pipe
  # The daemon of the page's home runs already.
  case $* in "procsup daemon") PROCSUP_HOME=$PWD/own; export PROCSUP_HOME;; esac
  "$@" > pipe 2>&1 &
  pid=$!
  # A stream of events waits for one.
  case $1 in curl) { sleep 1; procsup start ./sleep.sh --name event; } > event 2>&1 & esac
  {
    if IFS= read -r line || test -n "$line"; then printf '%s\n' "$line"; fi
    kill -TERM $pid; cat
  } < pipe > output
  wait $pid; code=$?; wait; cat output
  test -s output && case $code in 0|143) return 0;; esac
  return $code
}
${steps.join("")}`;
}

/** Empties the folder, and writes the sample apps into it. */
async function stage(folder: TempHome, home: string): Promise<void> {
  for (const { name } of Deno.readDirSync(folder.path)) {
    await Deno.remove(`${folder.path}/${name}`, { recursive: true });
  }
  await Deno.symlink(home, `${folder.path}/.procsup`);
  const words = programLine();
  for (const name of ["bin", "dist", ".pm2"]) await Deno.mkdir(`${folder.path}/${name}`);
  const files = {
    ...FILES,
    "bin/procsup": `#!/bin/sh\nexec ${words} "$@"\n`,
    ...Object.fromEntries(PROGRAMS.map((name) => [`bin/${name}`, SLEEP])),
    "bin/npm": "#!/bin/sh\n",
  };
  for (const [name, text] of Object.entries(files)) {
    await Deno.writeTextFile(`${folder.path}/${name}`, text, { mode: 0o755 });
  }
}

/** Whether a block needs a sample app: it names it, or it names none and gets the first. */
function needs({ text }: Example, name: string, all: readonly string[]): boolean {
  const named = all.filter((one) => new RegExp(`\\b${one}\\b`).test(text));
  if (!(named.length === 0 ? all.slice(0, 1) : named).includes(name)) return false;
  const itself =
    `^procsup (?:start|serve) .*(\\b${name}\\.\\w+|--name ${name}\\b)|"name":"${name}"`;
  return !new RegExp(itself, "m").test(text);
}

/** The sample apps that the block needs and does not start itself, and a web server. */
async function prepare(
  daemon: TestDaemon,
  folder: TempHome,
  block: Example,
  yaml: string,
): Promise<string> {
  await daemon.revive();
  await Deno.writeTextFile(`${folder.path}/procsup.yaml`, yaml);
  await daemon.client.call("delete", "all");
  const names = Object.keys((parse(yaml) as { processes: object }).processes);
  const only = names.filter((name) => needs(block, name, names));
  const config = `${folder.path}/procsup.yaml`;
  // Only the whole file contains webhooks.
  if (yaml.includes("webhooks:")) await daemon.client.call("start_all", { config, wait: true });
  else if (only.length > 0) await daemon.client.call("start_all", { config, wait: true, only });
  // Some create their own file.
  if (/--out procsup.yaml|procsup init/.test(block.text)) {
    await Deno.remove(`${folder.path}/procsup.yaml`);
  }
  return (await daemon.client.call("web_start", { listen: "127.0.0.1:0" })).url;
}

/** Runs the blocks of a page in order, and returns the problems. */
async function runPage(
  blocks: readonly Example[],
  daemon: TestDaemon,
  folder: TempHome,
): Promise<string[]> {
  await using server = Deno.serve({ port: 0, onListen: () => {} }, () => new Response());
  const receiver = `http://127.0.0.1:${server.addr.port}`;
  await stage(folder, daemon.home);
  const problems: string[] = [];
  for (const block of blocks) {
    const lines = linesOf(block).filter((line) => !NOT_RUN.has(line));
    if (lines.length === 0) continue;
    const hook = `webhooks: [{ name: ops, url: "${receiver}", events: [crash] }]\n`;
    // Only where needed, because engines have no counterpart.
    const yaml = FILES["procsup.yaml"] + (/^procsup webhook/m.test(block.text) ? hook : "");
    const url = await prepare(daemon, folder, block, yaml);
    const { token: TOKEN } = await daemon.client.call("token");
    const { stdout } = await new Deno.Command("timeout", {
      args: [
        "-k1",
        "100",
        "/bin/sh",
        "-c",
        scriptOf(lines, { url, folder: folder.path, receiver }),
      ],
      cwd: folder.path,
      env: {
        ...{ PROCSUP_HOME: daemon.home, HOME: folder.path, NO_COLOR: "1", TOKEN },
        TMPDIR: folder.path,
        ...{ PATH: `${folder.path}/bin:${Deno.env.get("PATH")}`, API_KEY: "k" },
        DENO_DIR: denoDir(),
      },
      stdin: "null",
    }).output();
    const answers = new TextDecoder().decode(stdout).split("\x1e");
    for (const [at, line] of lines.entries()) {
      const code = answers[at + 1]?.split("\n", 1)[0];
      const said = answers[at]!.replace(/^\d+\n/, "");
      if (code === "0") continue;
      problems.push(`${block.file}: ${line}\n  exit ${code ?? "none in time"}: ${said}`);
      if (code === undefined) break;
    }
  }
  return problems;
}

/** Without blocks that are the same as an earlier one. */
function different(blocks: readonly Example[]): Example[] {
  const seen = new Set<string>();
  return blocks.filter((block) => {
    const text = linesOf(block).join("\n");
    return !seen.has(text) && seen.add(text);
  });
}

const DAEMONS = 4;

/** A page that names a process by its number, which a new daemon counts from 0. */
const NUMBERED = "src/docs/targets.md";

Deno.test("every command of the examples runs and exits as the page says", async () => {
  const rank = (page: Example[]) => page[0]!.file === NUMBERED ? Infinity : page.length;
  const pages = [...Map.groupBy(different(BLOCKS), ({ file }) => file).values()]
    .sort((one, other) => rank(other) - rank(one));
  // Each daemon always gets the same pages, in the same order: they may affect each other.
  const problems = await Promise.all(Array.from({ length: DAEMONS }, async (_, first) => {
    await using folder = tempHome();
    await using daemon = await TestDaemon.start();
    const found: string[] = [];
    for (let at = first; at < pages.length; at += DAEMONS) {
      found.push(...await runPage(pages[at]!, daemon, folder));
      await daemon.clear();
    }
    return found;
  }));
  assertEquals(problems.flat().length, 0, problems.flat().join("\n"));
});
