/** An app under load, and releases of it. */

import { fromFileUrl } from "@std/path";
import { ifPossible } from "../../src/model/errors.ts";
import { freePort } from "../../tests/support/http_load.ts";
import type { TestDaemon } from "../../tests/support/procsup.ts";
import { waitFor } from "../../tests/support/wait_for.ts";
import type { Kind } from "./kinds.ts";
import { ReleaseLoad } from "./load.ts";

/** Where and how a release is deployed. */
export interface Place {
  readonly runtime: "node" | "python" | "deno";
  readonly ports: "shared" | "own";
  readonly overlap: boolean;
  readonly instances: number;
}

/** The Node.js of these tests cannot share its own port with its successor (`reusePort`: 23.1). */
export function isPossible({ runtime, ports, overlap }: Place): boolean {
  return !overlap || ports === "shared" || runtime !== "node";
}

export function placeText({ runtime, ports, overlap, instances }: Place): string {
  return `${runtime} ${ports} ${overlap ? "overlap" : "in turn"} ×${instances}`;
}

/** With overlap the old run has the same port: the answer must come from the run that is checked. */
const OWN_ANSWER = `for try in 1 2 3 4 5 6 7 8 9 10 11 12; do
  curl -fsS -m 1 "http://127.0.0.1:$PORT/" | grep -q " $PROCSUP_PID$" && exit
done; exit 1`;

const folder = fromFileUrl(import.meta.resolve("./apps"));

/** One app in one place. */
export class Scene {
  readonly name: string;
  readonly #daemon: TestDaemon;
  readonly #place: Place;
  readonly #port: number;
  readonly #accepted: string;

  constructor(daemon: TestDaemon, name: string, place: Place) {
    this.name = name;
    this.#daemon = daemon;
    this.#place = place;
    this.#port = freePort();
    this.#accepted = `${daemon.home}/${name}.accepted`;
  }

  get ports(): readonly number[] {
    const count = this.#place.ports === "own" ? this.#place.instances : 1;
    return Array.from({ length: count }, (_, index) => this.#port + index);
  }

  /** Starts the old release. */
  async start(): Promise<void> {
    await this.#daemon.client.call("start", { ...this.#config(), wait: true });
  }

  load(): ReleaseLoad {
    return new ReleaseLoad(this.ports, this.#accepted, this.#place.ports === "shared");
  }

  /** Deploys a release. Resolves with why it failed, if it did. */
  async deploy(kind: Kind): Promise<string | undefined> {
    const { results } = await this.#daemon.client.call("reconfigure", {
      target: this.name,
      rollback_on_failure: true,
      config: this.change(kind),
    });
    return results.find(({ ok }) => !ok)?.error;
  }

  /** The keys that a release changes. */
  change({ name, isGood, keys }: Kind): Record<string, unknown> {
    const env = { ...this.#env(), KIND: name, ...isGood ? {} : { ACCEPTED: this.#accepted } };
    return { env, ...keys };
  }

  /** What each instance serves now, and its state if that is not running. */
  async serving(): Promise<string[]> {
    const infos = await this.#infos();
    return infos.map(({ pid, state, health }) => {
      const kind = pid === 0 ? "none" : kindOf(pid);
      return state === "running" && health === "healthy" ? kind : `${kind} ${state} ${health}`;
    });
  }

  /** How its releases ended, on record: a rollback is part of the one that it undoes. */
  async record(): Promise<string[]> {
    return (await this.#releases()).filter(({ undoes }) => undoes === undefined)
      .map(({ result }) => result ?? "under way");
  }

  /** Why releases and rollbacks of it failed. */
  async reasons(): Promise<string[]> {
    return (await this.#releases()).flatMap(({ failure }) => failure?.reason ?? []);
  }

  async #releases() {
    return await this.#daemon.client.call("releases", { target: this.name });
  }

  /** Resolves when the release is over, and the instances have the one that must stay. */
  async settled({ name, isGood }: Kind): Promise<void> {
    const expected = isGood ? name : "old";
    const isOver = async () => (await this.#releases()).every(({ result }) => result !== null);
    const isRight = async () => (await this.serving()).every((kind) => kind === expected);
    const isSettled = async () => await isOver() && await isRight();
    await waitFor(isSettled, { what: `${expected} everywhere`, timeoutMs: 90_000 });
  }

  async delete(): Promise<void> {
    await this.#daemon.client.call("delete", { target: this.name });
  }

  async #infos() {
    const all = await this.#daemon.client.call("list");
    return all.filter(({ name }) => name.split(":")[0] === this.name);
  }

  #env(): Record<string, string> {
    return { PORT: String(this.#port), PYTHONUNBUFFERED: "1" };
  }

  #config(): Record<string, unknown> {
    const { runtime, ports, overlap, instances } = this.#place;
    const url = `http://127.0.0.1:${this.#port}/`;
    const often = { interval: "1s", timeout: "3s", retries: 2 };
    const isShared = ports === "shared";
    // Deno shares a port of its own only with this flag.
    const program = runtime === "deno" && !isShared
      ? { entrypoint: Deno.execPath(), args: ["run", "-A", "--unstable-net", `${folder}/app.ts`] }
      : { entrypoint: `${folder}/${runtime === "python" ? "app.py" : "app.mjs"}`, runtime };
    return {
      ...{ name: this.name, ...program, cwd: "/", instances, overlap },
      env: this.#env(),
      ...isShared ? { sockets: [`127.0.0.1:${this.#port}`] } : { increment_env: ["PORT"] },
      health_check: isShared
        ? { type: "http", url, ...often }
        : { type: "command", command: OWN_ANSWER, ...often },
      ...{ wait_ready: true, listen_timeout: "8s", min_uptime: "4s", stop_timeout: "3s" },
    };
  }
}

/** The release that a process was launched with. */
function kindOf(pid: number): string {
  const text = ifPossible(() => Deno.readTextFileSync(`/proc/${pid}/environ`));
  if (text === undefined) return "gone";
  const env = text.split("\0");
  return env.find((text) => text.startsWith("KIND="))?.slice("KIND=".length) ?? "old";
}
