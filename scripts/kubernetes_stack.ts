// deno-lint-ignore-file no-console
/**
 * Tests a stack on Kubernetes: up, a good release under load, bad ones, scale, logs, down.
 *
 * `deno task test:kubernetes [--context NAME] --image NAME`. Without a name it uses kubectl's
 * current context, if that has the name of a test cluster. The image must be on the nodes:
 *
 *     procsup image scripts/kubernetes/procsup.yaml --tag NAME
 *
 * Without kubectl, a cluster or the image it prints one line and exits with 0. It creates
 * everything in a separate namespace, which it removes at the end.
 */

import { parseArgs } from "@std/cli/parse-args";
import { outputOf, type Ran } from "../tests/support/output_of.ts";
import { run } from "./boot/root.ts";
import { until } from "./swarm/cluster.ts";

const ROOT = import.meta.dirname!.replace(/\/scripts$/, "");
const FILE = `${ROOT}/scripts/kubernetes/procsup.yaml`;

/** Contexts that the test may use without `--context`. */
const FOR_TRIALS = /^(kind|k3d|minikube|docker-desktop|rancher-desktop|procsup-test)($|-)/;

interface Copy {
  readonly name: string;
  readonly app: string;
  readonly state: string;
  readonly ready: boolean;
  readonly image: string;
}

/** The scene: a namespace, and a folder with a configuration file. */
class Scene implements AsyncDisposable {
  readonly namespace = `procsup-${Deno.pid.toString(36)}`;
  readonly #folder = Deno.makeTempDirSync({ prefix: "procsup-kubernetes-" });
  readonly #context: string;
  readonly image: string;
  #proxy: Deno.ChildProcess | undefined;
  #page = "";

  constructor(context: string, image: string) {
    this.#context = context;
    this.image = image;
  }

  async kubectl(...args: string[]): Promise<string> {
    return await run("kubectl", `--context=${this.#context}`, ...args);
  }

  /** Creates the namespace, and a proxy to the page. */
  async open(): Promise<void> {
    await this.kubectl("create", "namespace", this.namespace);
    this.#proxy = new Deno.Command("kubectl", {
      args: [`--context=${this.#context}`, "proxy", "--port=0"],
      ...{ stdin: "null", stdout: "piped", stderr: "null" },
    }).spawn();
    const reader = this.#proxy.stdout.getReader();
    const line = new TextDecoder().decode((await reader.read()).value);
    const address = /[\d.]+:\d+/.exec(line)![0];
    this.#page =
      `http://${address}/api/v1/namespaces/${this.namespace}/services/shop-web:8080/proxy/`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#proxy?.kill();
    await this.#proxy?.status;
    await this.kubectl("delete", "namespace", this.namespace, "--ignore-not-found");
    Deno.removeSync(this.#folder, { recursive: true });
  }

  async procsup(...args: string[]): Promise<Ran> {
    return await outputOf(
      new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", `${ROOT}/main.ts`, ...args],
        cwd: this.#folder,
        env: {
          // If these had values, they would select a daemon instead of the engine.
          ...{ PROCSUP_HOME: "", PROCSUP_HOST: "", PROCSUP_ID: "" },
          ...{ NO_COLOR: "1", HOME: Deno.env.get("HOME")!, XDG_CONFIG_HOME: this.#folder },
          ...{ KUBECONFIG: Deno.env.get("KUBECONFIG") ?? `${Deno.env.get("HOME")}/.kube/config` },
        },
        stdin: "null",
      }),
    );
  }

  /** Runs a command on the cluster. Throws unless it exits with `code`. */
  async on(code: number, ...args: string[]): Promise<string> {
    const place = [
      "--context",
      this.#context,
      "--cluster-namespace",
      this.namespace,
      "--stack",
      "shop",
    ];
    const said = await this.procsup(...args, "--on", "kubernetes", ...place);
    if (said.code === code) return said.stdout + said.stderr;
    throw new Error(`${args.join(" ")}: exit code ${said.code}\n${said.stdout}${said.stderr}`);
  }

  /** Runs `up` with another release. */
  async up(code: number, release: string, image = this.image): Promise<string> {
    const text = Deno.readTextFileSync(FILE).replace("RELEASE: one", `RELEASE: ${release}`);
    Deno.writeTextFileSync(`${this.#folder}/procsup.yaml`, text);
    return await this.on(code, "up", "--image", image);
  }

  async copies(app: string): Promise<Copy[]> {
    const all: Copy[] = JSON.parse(await this.on(0, "list", "--json"));
    return all.filter((copy) => copy.app === app);
  }

  /** The page, through the Service; undefined if two requests fail. */
  async page(): Promise<string | undefined> {
    for (let turn = 0; turn < 2; turn++) {
      try {
        const response = await fetch(this.#page, { signal: AbortSignal.timeout(2000) });
        const text = (await response.text()).trim();
        if (response.ok) return text;
      } catch {
        // The next request may reach another pod.
      }
    }
    return undefined;
  }

  /** Requests the page during `act` and counts each text. Throws if a request got no answer. */
  async counted(act: () => Promise<unknown>): Promise<string> {
    const pages: Record<string, number> = {};
    let isOver = false;
    const load = (async () => {
      while (!isOver) {
        const page = String(await this.page());
        pages[page] = (pages[page] ?? 0) + 1;
      }
    })();
    try {
      await act();
    } finally {
      isOver = true;
      await load;
    }
    equal(pages.undefined, undefined, `requests without an answer of ${JSON.stringify(pages)}`);
    return JSON.stringify(pages);
  }
}

const STEPS: Readonly<Record<string, (scene: Scene) => Promise<string>>> = {
  "up: a web app with 3 copies, a worker, a job and a cron job": async (scene) => {
    await scene.up(0, "one");
    equal((await scene.copies("web")).length, 3, "copies of web");
    equal((await scene.copies("setup"))[0]?.state, "complete", "the job");
    await until("the page is there", async () => await scene.page() === "one");
    return (await scene.on(0, "list")).trim();
  },
  "the cron job ran": async (scene) => {
    const ran = async () => (await scene.on(0, "logs", "tick")).includes("tick | tick");
    await until("the job ran", ran, 90_000);
    return (await scene.on(0, "list", "tick")).trim();
  },
  "a release that changes only a variable rolls, and no request is lost": async (scene) => {
    const pages = await scene.counted(() => scene.up(0, "two"));
    equal(await scene.page(), "two", "the page");
    return pages;
  },
  "a release that crashes is rolled back": async (scene) => {
    let said = "";
    const pages = await scene.counted(async () => said = await scene.up(1, "bad"));
    equal(await scene.page(), "two", "the page");
    equal((await scene.copies("web")).filter(({ ready }) => ready).length, 3, "copies of web");
    return `${/✘ web.*/.exec(said)?.[0]}\n${pages}`;
  },
  "an image that cannot be pulled is rolled back": async (scene) => {
    const said = await scene.up(1, "two", "procsup.invalid/none:1");
    equal(await scene.page(), "two", "the page");
    equal((await scene.copies("tick"))[0]?.image, scene.image, "the image of the cron job");
    return (said.match(/✘ .*/g) ?? []).join("\n");
  },
  "scale, reload, logs and why": async (scene) => {
    await scene.on(0, "scale", "worker", "+1");
    equal((await scene.copies("worker")).filter(({ ready }) => ready).length, 2, "copies");
    await scene.on(0, "reload", "worker");
    const lines = (await scene.on(0, "logs", "worker", "-n", "2")).trim().split("\n");
    equal(new Set(lines.map((line) => line.split("] ")[0])).size, 2, "copies in the logs");
    equal((await scene.on(4, "scale", "wroker", "2")).includes("worker"), true, "the hint");
    await scene.on(6, "reload", "tick");
    await scene.on(0, "scale", "worker", "0");
    const isListed = async () => (await scene.on(0, "list", "worker")).includes("no copies");
    await until("the app without copies is listed", isListed);
    await scene.on(0, "scale", "worker", "1");
    return `${lines[0]}\n${(await scene.on(0, "why", "web")).trim()}`;
  },
  "a context selects the cluster": async (scene) => {
    const place = ["--on", "kubernetes", "--cluster-namespace", scene.namespace, "--stack", "shop"];
    await scene.procsup("context", "add", "trial", ...place);
    await scene.procsup("context", "use", "trial");
    const list = await scene.procsup("list");
    equal([list.code, list.stdout.includes("web-")].join(), "0,true", list.stderr);
    const stop = await scene.procsup("stop", "web");
    equal(stop.code, 2, stop.stderr);
    return stop.stderr.trim();
  },
  "down leaves nothing": async (scene) => {
    await scene.on(0, "down");
    equal(await scene.on(0, "list", "--json", "--quiet"), "[]\n", "list");
    const kinds = "deployments,replicasets,jobs,cronjobs,pods,services";
    const left = await scene.kubectl("get", kinds, "-n", scene.namespace, "-o", "name");
    equal(left, "", "what is left");
    return "no object";
  },
};

function equal(actual: unknown, expected: unknown, what: string): void {
  if (actual === expected) return;
  throw new Error(`${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`);
}

/** The context to use, or why there is none. */
async function contextOf(given: string | undefined): Promise<{ context: string } | string> {
  const kubectl = (...args: string[]) => run("kubectl", ...args).then((text) => text.trim());
  if (await kubectl("version", "--client").then(() => false, () => true)) return "kubectl";
  const context = given ?? await kubectl("config", "current-context").catch(() => "");
  if (context === "") return "a cluster: kubectl has no context in use";
  if (given === undefined && !FOR_TRIALS.test(context)) {
    return `--context NAME: "${context}" is not named as a cluster for trials`;
  }
  const ready = ["get", "--raw", "/readyz", `--context=${context}`, "--request-timeout=10s"];
  if (await kubectl(...ready).then(() => false, () => true)) return `a cluster at "${context}"`;
  return { context };
}

async function main(): Promise<number> {
  const { context: given, image } = parseArgs(Deno.args, { string: ["context", "image"] });
  const found = await contextOf(given);
  const lack = typeof found === "string" ? found : image === undefined ? "--image NAME" : undefined;
  if (lack !== undefined) {
    console.log(`kubernetes_stack: skipped, it needs ${lack}`);
    return 0;
  }
  let failed = 0;
  {
    await using scene = new Scene((found as { context: string }).context, image!);
    await scene.open();
    for (const [name, step] of Object.entries(STEPS)) {
      const from = performance.now();
      const [mark, said] = await step(scene).then(
        (seen) => ["ok    ", seen],
        (error: Error) => ["FAILED", error.message],
      );
      if (mark === "FAILED") failed++;
      const seconds = ((performance.now() - from) / 1000).toFixed(1);
      console.log(`${mark}  ${name} (${seconds} s)\n${said}`);
    }
  }
  console.log(failed === 0 ? "\nAll good" : `\n${failed} failed`);
  return failed === 0 ? 0 : 1;
}

Deno.exit(await main());
