/** Real-world servers: killed, restarted and serving, then stopped without a trace. */

import { fromFileUrl } from "@std/path";
import { assertEquals } from "@std/assert";
import { freePort } from "../support/http_load.ts";
import { livingOf, parentOf, runMark } from "../fixtures/run_members.ts";
import { isInstalled } from "../support/installed.ts";
import { TestDaemon } from "../support/procsup.ts";
import { waitFor } from "../support/wait_for.ts";

const FIXTURES = fromFileUrl(import.meta.resolve("../fixtures"));
interface Program {
  readonly name: string;
  /** The required executable, and how to install it. */
  readonly needs: string;
  readonly install: string;
  /** The arguments of `procsup start`, for a free port and a folder for files. */
  readonly start: (port: number, folder: string) => string[];
  /** Whether it serves. */
  readonly serves: (port: number) => Promise<boolean>;
}

const PROGRAMS: readonly Program[] = [
  {
    name: "node",
    needs: "node",
    install: "apt-get install nodejs",
    start: (port) => [`${FIXTURES}/server.js`, "-e", `PORT=${port}`],
    serves: answersHttp,
  },
  {
    name: "deno",
    needs: Deno.execPath(),
    install: "npm install -g deno",
    start: (port) => [`${FIXTURES}/server.ts`, "--runtime", "deno", "-e", `PORT=${port}`],
    serves: answersHttp,
  },
  {
    name: "python",
    needs: "python3",
    install: "apt-get install python3",
    start: (port) => ["--", "python3", "-m", "http.server", String(port), "--bind", "127.0.0.1"],
    serves: answersHttp,
  },
  {
    name: "nginx",
    needs: "nginx",
    install: "apt-get install nginx-light",
    start: (port, folder) => {
      writeNginxConfig(port, folder);
      return ["--", "nginx", "-p", folder, "-c", `${folder}/nginx.conf`, "-e", "stderr"];
    },
    serves: answersHttp,
  },
  {
    name: "redis",
    needs: "redis-server",
    install: "apt-get install redis-server",
    start: (port, folder) => {
      const flags = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder];
      return ["--", "redis-server", ...flags];
    },
    serves: answersRedis,
  },
];

for (const program of PROGRAMS) {
  const missing = !isInstalled(program.needs);
  if (missing) {
    // deno-lint-ignore no-console
    console.log(`skipped: ${program.needs} is not installed (${program.install})`);
  }
  Deno.test(`procsup keeps ${program.name} serving and stops it completely`, {
    ignore: missing,
  }, () => keepsServing(program));
}

async function keepsServing({ name, start, serves }: Program): Promise<void> {
  await using daemon = await TestDaemon.start();
  const port = freePort();
  const folder = `${daemon.home}/files`;
  await Deno.mkdir(folder);
  const flags = ["--name", name, "--cwd", folder, "--min-uptime", "200ms"];
  const started = await daemon.cli("start", ...flags, ...start(port, folder));
  assertEquals(started.code, 0, started.stderr);
  await waitFor(() => serves(port), { what: "it to serve" });

  const { pid } = await daemon.status(name);
  const first = await runMark(parentOf(pid));
  Deno.kill(pid, "SIGKILL");
  await waitFor(async () => {
    const now = await daemon.status(name);
    return now.state === "running" && now.pid > 0 && now.pid !== pid;
  }, { what: "a new pid" });
  await waitFor(() => serves(port), { what: "it to serve again" });
  const back = await daemon.status(name);
  assertEquals([back.restarts, back.last_exit?.signal], [1, "SIGKILL"]);
  assertEquals(livingOf(first), [], "left of the one that was killed");

  const second = await runMark(parentOf(back.pid));
  const stopped = await daemon.cli("stop", name);
  assertEquals([stopped.code, stopped.stdout], [0, `✔ ${name}  stopped\n`]);
  assertEquals(livingOf(second), [], "left of the one that was stopped");
  Deno.listen({ port, hostname: "127.0.0.1" }).close();
}

async function answersHttp(port: number): Promise<boolean> {
  // A kept-alive connection would belong to the killed server.
  const headers = { connection: "close" };
  const response = await fetch(`http://127.0.0.1:${port}/`, { headers });
  await response.body?.cancel();
  return response.ok;
}

async function answersRedis(port: number): Promise<boolean> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  await connection.write(new TextEncoder().encode("PING\r\n"));
  const answer = new Uint8Array(16);
  const length = await connection.read(answer) ?? 0;
  return new TextDecoder().decode(answer.subarray(0, length)) === "+PONG\r\n";
}

/** It only writes to the folder, and needs no privileges. */
function writeNginxConfig(port: number, folder: string): void {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((kind) => `${kind}_temp_path ${folder}/${kind};`).join("\n  ");
  Deno.writeTextFileSync(
    `${folder}/nginx.conf`,
    `${Deno.uid() === 0 ? "user root;" : ""}
daemon off;
worker_processes 2;
pid ${folder}/nginx.pid;
events {}
http {
  access_log off;
  ${temporary}
  server {
    listen 127.0.0.1:${port};
    location / { return 200 "hello\\n"; }
  }
}
`,
  );
}
