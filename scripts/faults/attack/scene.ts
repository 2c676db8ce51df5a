/** The scene of an attack: root's daemon with an app, a folder open to all, and two users. */

import { sleep } from "../../../src/platform/clock.ts";
import { TestWeb, type WebAnswer } from "../../../tests/support/web.ts";
import { TestDaemon } from "../../../tests/support/procsup.ts";
import type { Role } from "../../../src/verbs/verb.ts";

/** Two ordinary users without a name on this machine. */
export const ALICE = { uid: 65533, gid: 65533 };
export const BOB = { uid: 65532, gid: 65532 };

/** Attempts an attack. Returns what was observed if the daemon withstood it. */
export type Attack = (scene: Scene) => Promise<string>;

/** The attack succeeded; the message says what was observed. */
export class Broken extends Error {}

/** The machine lacks what an attack needs. */
export class Lacking extends Error {}

/** Throws `Broken` with `seen` unless the condition holds. */
export function holds(condition: unknown, seen: string): asserts condition {
  if (!condition) throw new Broken(seen);
}

/** Result of a program. */
export interface Output {
  readonly code: number;
  /** Standard output and standard error. */
  readonly text: string;
}

/** Runs a program to its end. */
export async function run(program: string, options: Deno.CommandOptions): Promise<Output> {
  const { code, stdout, stderr } = await new Deno.Command(program, options).output();
  return { code, text: new TextDecoder().decode(new Uint8Array([...stdout, ...stderr])) };
}

/** The first line of a text, shortened for a table. */
export function brief(text: string): string {
  return text.trim().split("\n")[0]!.slice(0, 110);
}

/** Awaits a promise. Throws `Broken` if it takes longer than the limit. */
export async function within<T>(ms: number, what: string, promise: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Broken(`${what}: not within ${ms / 1000} s`)), ms);
  });
  return await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** A daemon with an app named `app`, and its attackers. */
export class Scene {
  readonly web: TestWeb;
  /** A folder in which every user may create files. */
  readonly path: string;
  /** Folder of the sources that are attacked. */
  readonly sources: string;
  readonly #others: Deno.ChildProcess[] = [];

  private constructor(web: TestWeb, path: string, program: string) {
    this.web = web;
    this.path = path;
    this.sources = program.replace(/\/[^/]*$/, "");
  }

  /** Starts the program's daemon and the app. */
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

  /** Makes a folder that a user owns. */
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

  /** Starts a program as a user, which runs until the attack is over. */
  background({ uid, gid }: typeof BOB, ...words: string[]): Deno.ChildProcess {
    const args = [`--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", ...words];
    const options = { args, stdout: "piped", stderr: "inherit", stdin: "null" } as const;
    const child = new Deno.Command("setpriv", options).spawn();
    this.#others.push(child);
    return child;
  }

  /** Makes a token with a role. */
  async token(role: Role): Promise<string> {
    return (await this.daemon.client.call("token_create", { name: `${role}-token`, role })).token;
  }

  /** Sends a request with a token, or without one if it is empty. */
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

  /** Peak memory of the daemon, in MiB. */
  memory(): number {
    const status = Deno.readTextFileSync(`/proc/${this.daemon.pid}/status`);
    return Math.round(Number(/^VmHWM:\s*(\d+)/m.exec(status)![1]) / 1024);
  }

  /** Processor time of the daemon, in milliseconds. */
  cpuMs(): number {
    const stat = Deno.readTextFileSync(`/proc/${this.daemon.pid}/stat`).split(") ")[1]!.split(" ");
    return (Number(stat[11]) + Number(stat[12])) * 10;
  }

  /** The longest ping, in milliseconds, until a promise settles. */
  async longestPing(during: Promise<unknown>): Promise<number> {
    let [isOver, worst] = [false, 0];
    const over = during.finally(() => isOver = true).catch(() => {});
    while (!isOver) {
      const asked = performance.now();
      await this.daemon.client.call("ping").catch(() => {});
      worst = Math.max(worst, performance.now() - asked);
      await sleep(10);
    }
    await over;
    return Math.round(worst);
  }

  /** Pid of the app. */
  async appPid(): Promise<number> {
    return (await this.daemon.status("app")).pid;
  }

  /** Ends what it can; the namespaces end the rest. */
  async close(): Promise<void> {
    for (const child of this.#others) {
      try {
        child.kill("SIGKILL");
      } catch {
        // It has already ended.
      }
    }
    const signal = AbortSignal.timeout(8000);
    await this.daemon.client.call("shutdown", undefined, { signal }).catch(() => {});
  }
}
