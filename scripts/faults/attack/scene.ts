/** Where an attack takes place: root's daemon with an app, a folder that all may enter, two users. */

import { TestWeb, type WebAnswer } from "../../../tests/support/web.ts";
import { TestDaemon } from "../../../tests/support/procsup.ts";
import type { Role } from "../../../src/protocol/verbs/verb.ts";

/** Two ordinary users, whom the machine knows by no name. */
export const ALICE = { uid: 65533, gid: 65533 };
/** The other one. */
export const BOB = { uid: 65532, gid: 65532 };

/** Tries one thing, and says what was seen when it held. */
export type Attack = (scene: Scene) => Promise<string>;

/** An attack that succeeded: the message says what was seen. */
export class Broken extends Error {}

/** The machine lacks what an attack needs. */
export class Lacking extends Error {}

/** Throws `Broken` unless something holds. */
export function holds(condition: unknown, seen: string): asserts condition {
  if (!condition) throw new Broken(seen);
}

/** What a program gave back. */
export interface Output {
  readonly code: number;
  /** Both streams. */
  readonly text: string;
}

/** Runs a program to its end. */
export async function run(program: string, options: Deno.CommandOptions): Promise<Output> {
  const { code, stdout, stderr } = await new Deno.Command(program, options).output();
  return { code, text: new TextDecoder().decode(new Uint8Array([...stdout, ...stderr])) };
}

/** The first line of a text, cut to what a table holds. */
export function brief(text: string): string {
  return text.trim().split("\n")[0]!.slice(0, 110);
}

/** Returns what comes within a time; else `Broken` says what did not. */
export async function within<T>(ms: number, what: string, promise: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Broken(`${what}: not within ${ms / 1000} s`)), ms);
  });
  return await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** A daemon with an app named `app`, and who attacks it. */
export class Scene {
  readonly web: TestWeb;
  /** A folder in which every user may make files. */
  readonly path: string;
  /** Folder of the sources under attack. */
  readonly sources: string;
  readonly #others: Deno.ChildProcess[] = [];

  private constructor(web: TestWeb, path: string, program: string) {
    this.web = web;
    this.path = path;
    this.sources = program.replace(/\/[^/]*$/, "");
  }

  /** Starts the daemon of a program, and the app. */
  static async start(program: string): Promise<Scene> {
    const path = Deno.makeTempDirSync({ dir: "/tmp", prefix: "at-" });
    Deno.chmodSync(path, 0o1777);
    const words = `exec '${Deno.execPath()}' run -A --no-check '${program}' "$@"`;
    Deno.writeTextFileSync("/tmp/procsup", `#!/bin/sh\n${words}\n`, { mode: 0o755 });
    Deno.env.set("PROCSUP_TEST_EXECUTABLE", "/tmp/procsup");
    const scene = new Scene(await TestWeb.start(), path, program);
    await scene.daemon.startScript("app", "echo up; exec sleep 100000");
    return scene;
  }

  get daemon(): TestDaemon {
    return this.web.daemon;
  }

  /** A folder that belongs to a user. */
  folderOf({ uid, gid }: typeof BOB, name = "bob"): string {
    const path = `${this.path}/${name}`;
    Deno.mkdirSync(path);
    Deno.chownSync(path, uid, gid);
    return path;
  }

  /** Runs a shell script as a user. */
  as({ uid, gid }: typeof BOB, script: string, cwd = this.path): Promise<Output> {
    const args = [`--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", "sh", "-c", script];
    return run("setpriv", { args, cwd });
  }

  /** Starts a program of a user that goes on until the attack is over. */
  background({ uid, gid }: typeof BOB, ...words: string[]): Deno.ChildProcess {
    const args = [`--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", ...words];
    const options = { args, stdout: "piped", stderr: "inherit", stdin: "null" } as const;
    const child = new Deno.Command("setpriv", options).spawn();
    this.#others.push(child);
    return child;
  }

  /** A token of a role. */
  async token(role: Role): Promise<string> {
    return (await this.daemon.client.call("token_create", { name: `${role}-token`, role })).token;
  }

  /** A request with a token; an empty one is left out. */
  ask(
    token: string,
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<WebAnswer> {
    const authorization = token === "" ? "" : `Bearer ${token}`;
    return this.web.ask(method, path, body, { authorization, ...headers });
  }

  /** The most memory that the daemon has had, in MiB. */
  memory(): number {
    const status = Deno.readTextFileSync(`/proc/${this.daemon.pid}/status`);
    return Math.round(Number(/^VmHWM:\s*(\d+)/m.exec(status)![1]) / 1024);
  }

  /** The longest time that a ping took while something went on, in milliseconds. */
  async longestPing(during: Promise<unknown>): Promise<number> {
    let [isOver, worst] = [false, 0];
    const over = during.finally(() => isOver = true).catch(() => {});
    while (!isOver) {
      const asked = performance.now();
      await this.daemon.client.call("ping").catch(() => {});
      worst = Math.max(worst, performance.now() - asked);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await over;
    return Math.round(worst);
  }

  /** Whether the app runs on as the same process. */
  async appPid(): Promise<number> {
    return (await this.daemon.status("app")).pid;
  }

  /** Ends what there is, as far as it can be ended; the namespaces take the rest. */
  async close(): Promise<void> {
    for (const child of this.#others) {
      try {
        child.kill("SIGKILL");
      } catch {
        // It has ended.
      }
    }
    const signal = AbortSignal.timeout(8000);
    await this.daemon.client.call("shutdown", undefined, { signal }).catch(() => {});
  }
}
