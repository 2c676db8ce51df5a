// deno-lint-ignore-file no-console
/**
 * Tests a stack on a Docker Swarm of four nodes: up, a good release under load, a bad one, a node
 * that dies.
 *
 * `deno task test:swarm`. Needs root on Linux, dockerd and busybox; without them it prints one line
 * and exits with 0. Ports are published in host mode, which needs no load balancer in the kernel.
 */

import { outputOf, type Ran } from "../tests/support/output_of.ts";
import { run } from "./boot/root.ts";
import { buildPortable } from "./compile/portable.ts";
import { Cluster, makeRoot, TOOLS, until } from "./swarm/cluster.ts";

const ROOT = import.meta.dirname!.replace(/\/scripts$/, "");
const NODES = 4;

const FILE = `processes:
  web:
    command: sh web.sh
    env: { PORT: 8080 }
    instances: 3
    max_restarts: 1
    listen_timeout: 10s
    health_check: { type: http, url: "http://127.0.0.1:8080/", interval: 500ms }
  worker: { command: sh -c 'while :; do echo working; sleep 1; done' }
cron:
  tick: { schedule: "*/5 * * * * *", command: "echo tick" }
`;

const ONCE = `processes: { once: { command: sh -c 'exit 7', restart_policy: never } }\n`;

interface Copy {
  readonly app: string;
  readonly state: string;
  readonly node: string;
  readonly image: string;
}

/** The scene: a cluster, and a folder with a configuration file. */
class Scene {
  readonly cluster: Cluster;
  readonly folder: string;

  constructor(cluster: Cluster, folder: string) {
    this.cluster = cluster;
    this.folder = folder;
  }

  async procsup(...args: string[]): Promise<Ran> {
    return await outputOf(
      new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", `${ROOT}/main.ts`, ...args],
        cwd: this.folder,
        env: { ...this.cluster.env(), NO_COLOR: "1", PROCSUP_HOME: `${this.folder}/home` },
        stdin: "null",
      }),
    );
  }

  /** Runs a command with `--on swarm`. Throws unless it exits with `code`. */
  async on(code: number, ...args: string[]): Promise<string> {
    const said = await this.procsup(...args, "--on", "swarm");
    if (said.code === code) return said.stdout + said.stderr;
    throw new Error(`${args.join(" ")}: exit code ${said.code}\n${said.stdout}${said.stderr}`);
  }

  async copies(app: string): Promise<Copy[]> {
    const all: Copy[] = JSON.parse(await this.on(0, "list", "--json"));
    return all.filter((copy) => copy.app === app && copy.state === "running");
  }

  /** The page of the first node that answers; undefined if none does. */
  async page(first = 0): Promise<string | undefined> {
    for (let turn = 0; turn < NODES; turn++) {
      const { address } = this.cluster.nodes[(first + turn) % NODES]!;
      try {
        const signal = AbortSignal.timeout(1000);
        const response = await fetch(`http://${address}:8080/`, { signal });
        const text = (await response.text()).trim();
        if (response.ok) return text;
      } catch {
        // The next node may have a copy.
      }
    }
    return undefined;
  }

  /** Requests the page during `act`. Counts each text; `undefined` means no answer. */
  async counted(act: () => Promise<unknown>): Promise<Record<string, number>> {
    const pages: Record<string, number> = {};
    let isOver = false;
    const load = (async () => {
      for (let turn = 0; !isOver; turn++) {
        const page = String(await this.page(turn));
        pages[page] = (pages[page] ?? 0) + 1;
      }
    })();
    try {
      await act();
    } finally {
      isOver = true;
      await load;
    }
    return pages;
  }
}

const STEPS: Readonly<Record<string, (scene: Scene) => Promise<string>>> = {
  "up: a web app with 3 copies, a worker and a job": async (scene) => {
    await scene.on(0, "up", "--image", "shop:1", "--ports", "host");
    equal((await scene.copies("web")).length, 3, "copies of web");
    equal((await scene.copies("worker")).length, 1, "copies of worker");
    equal(await scene.page(), "v1", "the page");
    await until(
      "the job ran",
      async () => (await scene.on(0, "logs", "tick")).includes("tick | tick"),
    );
    return (await scene.on(0, "list")).trim();
  },
  "a good release rolls, and no request is lost": async (scene) => {
    const pages = await scene.counted(() =>
      scene.on(0, "up", "--image", "shop:2", "--ports", "host")
    );
    equal(pages.undefined, undefined, `requests without an answer of ${JSON.stringify(pages)}`);
    equal(await scene.page(), "v2", "the page");
    return JSON.stringify(pages);
  },
  "a bad release rolls back": async (scene) => {
    const pages = await scene.counted(() =>
      scene.on(1, "up", "--image", "shop:3", "--ports", "host")
    );
    equal(pages.undefined, undefined, `requests without an answer of ${JSON.stringify(pages)}`);
    await until("3 copies", async () => (await scene.copies("web")).length === 3);
    for (const { image } of await scene.copies("web")) equal(image, "shop:2", "the image");
    return (await scene.on(0, "why", "web")).trim();
  },
  "scale, reload and logs": async (scene) => {
    await scene.on(0, "scale", "worker", "+1");
    equal((await scene.copies("worker")).length, 2, "copies of worker");
    await scene.on(0, "reload", "worker");
    const lines = (await scene.on(0, "logs", "worker", "-n", "2")).trim().split("\n");
    equal((await scene.on(4, "scale", "wroker", "2")).includes("worker"), true, "the hint");
    await scene.on(0, "scale", "worker", "0");
    const isListed = async () => (await scene.on(0, "list", "worker")).includes("no copies");
    await until("the app without copies is listed", isListed);
    await scene.on(0, "scale", "worker", "1");
    return lines[0]!;
  },
  "an app that runs once and fails is reported, also when it is applied again": async (scene) => {
    const words = ["once.yaml", "--image", "shop:1", "--stack", "once"];
    const from = performance.now();
    for (let turn = 0; turn < 2; turn++) {
      const said = await scene.on(1, "up", ...words);
      equal(/✘ once {2}0 of 1 running: .*non-zero exit/.test(said), true, said);
    }
    equal(performance.now() - from < 120_000, true, "within two minutes");
    await scene.on(0, "down", "--stack", "once");
    return "failed twice";
  },
  "copies on a dead node start elsewhere": async (scene) => {
    const before = await scene.copies("web");
    const victim = scene.cluster.nodes.findIndex(({ namespace }, index) =>
      index > 0 && before.some(({ node }) => node === namespace)
    );
    const { namespace } = scene.cluster.nodes[victim]!;
    await scene.cluster.kill(victim);
    await until("3 copies on other nodes", async () => {
      const now = await scene.copies("web");
      return now.length === 3 && now.every(({ node }) => node !== namespace);
    }, 120_000);
    return `without ${namespace}: ${
      (await scene.copies("web")).map(({ node }) => node).join(", ")
    }`;
  },
  "down leaves nothing": async (scene) => {
    await scene.on(0, "down");
    equal(await scene.on(0, "list", "--json", "--quiet"), "[]\n", "list");
    return "no service";
  },
};

function equal(actual: unknown, expected: unknown, what: string): void {
  if (actual === expected) return;
  throw new Error(`${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`);
}

/** Makes an image with `procsup image`, and others from it that replace files. */
async function makeImages(scene: Scene, work: string): Promise<void> {
  const { cluster, folder } = scene;
  await makeRoot(`${work}/root`);
  await run("tar", "-C", `${work}/root`, "-cf", `${work}/base.tar`, ".");
  await cluster.docker(0, "import", `${work}/base.tar`, "base:1");
  await buildPortable(ROOT, `${work}/procsup`, "gzip");
  Deno.mkdirSync(`${folder}/www`, { recursive: true });
  Deno.writeTextFileSync(`${folder}/procsup.yaml`, FILE);
  Deno.writeTextFileSync(`${folder}/once.yaml`, ONCE);
  Deno.writeTextFileSync(`${folder}/web.sh`, "exec httpd -f -p $PORT -h www\n");
  Deno.writeTextFileSync(`${folder}/www/index.html`, "v1\n");
  Deno.writeTextFileSync(`${folder}/.env`, "PASSWORD=1\n");
  const words = ["--tag", "whole:1", "--base", "base:1", "--program", `${work}/procsup`];
  const { code, stdout, stderr } = await scene.procsup("image", ...words);
  if (code !== 0) throw new Error(`procsup image: ${stdout}${stderr}`);
  equal(
    await cluster.docker(
      0,
      "run",
      "--rm",
      "--entrypoint",
      "find",
      "whole:1",
      "/app",
      "-name",
      ".env",
    ),
    "",
    ".env",
  );
  // Flatten it to one layer, because the storage driver copies each layer.
  const id = (await cluster.docker(0, "create", "whole:1")).trim();
  await cluster.docker(0, "export", "-o", `${work}/shop.tar`, id);
  const kept = [
    'ENTRYPOINT ["procsup"]',
    "WORKDIR /app",
    "USER 65534",
    "ENV PROCSUP_CACHE=/var/cache/procsup",
  ];
  const changes = kept.flatMap((change) => ["-c", change]);
  const files = { 2: "RUN echo v2 >www/index.html", 3: "RUN echo exit 1 >web.sh" };
  await Promise.all(
    cluster.nodes.keys().map(async (index) => {
      await cluster.docker(index, "import", ...changes, `${work}/shop.tar`, "shop:1");
      for (const [tag, line] of Object.entries(files)) {
        Deno.mkdirSync(`${work}/${index}-${tag}`);
        const text = `FROM shop:1\nUSER 0\n${line}\nUSER 65534\n`;
        Deno.writeTextFileSync(`${work}/${index}-${tag}/Dockerfile`, text);
        await cluster.docker(index, "build", "-q", "-t", `shop:${tag}`, `${work}/${index}-${tag}`);
      }
    }),
  );
}

async function missing(): Promise<string | undefined> {
  if (Deno.build.os !== "linux" || Deno.uid() !== 0) return "root on Linux";
  for (const tool of TOOLS) {
    if (!await run("sh", "-c", `command -v ${tool}`).then(() => true, () => false)) return tool;
  }
  return undefined;
}

async function main(): Promise<number> {
  const lack = await missing();
  if (lack !== undefined) {
    console.log(`swarm_stack: skipped, it needs ${lack}`);
    return 0;
  }
  const work = Deno.makeTempDirSync({ prefix: "procsup-swarm-" });
  let failed = 0;
  try {
    await using cluster = new Cluster(work);
    await cluster.start(NODES);
    const scene = new Scene(cluster, `${work}/shop`);
    Deno.mkdirSync(scene.folder);
    await makeImages(scene, work);
    for (const [name, step] of Object.entries(STEPS)) {
      const from = performance.now();
      const [mark, said] = await step(scene).then(
        (seen) => ["ok    ", seen],
        (error: Error) => ["FAILED", error.message],
      );
      if (mark === "FAILED") failed++;
      console.log(
        `${mark}  ${name} (${((performance.now() - from) / 1000).toFixed(1)} s)\n${said}`,
      );
    }
  } finally {
    // Processes of a killed node may take a moment to exit.
    const remove = () => run("rm", "-rf", work).then(() => true, () => false);
    await until("the folder is removed", remove);
  }
  console.log(failed === 0 ? "\nAll good" : `\n${failed} failed`);
  return failed === 0 ? 0 : 1;
}

Deno.exit(await main());
