/** Runs the real program as a user would. */

import { fromFileUrl } from "@std/path";
import { hasCode } from "../../src/model/errors.ts";
import { shellWord } from "../../src/model/shell_line.ts";
import { pathsIn } from "../../src/platform/files/paths.ts";
import { fixedWords } from "../../src/platform/own_program.ts";
import { processRow } from "../../src/platform/scan/process_table.ts";
import { DaemonClient } from "../../src/protocol/daemon_client.ts";
import type { ProcessJson } from "../../src/protocol/wire.ts";
import { outputOf, type Ran } from "./output_of.ts";
import { tempHome } from "./temp_home.ts";
import { waitFor } from "./wait_for.ts";

const MAIN = fromFileUrl(import.meta.resolve("../../main.ts"));

/** Command words of the program: the built executable if one is set, otherwise its source. */
export function programWords(): string[] {
  const built = Deno.env.get("PROCSUP_TEST_EXECUTABLE");
  return built === undefined ? [Deno.execPath(), "run", "-A", MAIN] : [built];
}

/** The same as a line for a shell. */
export function programLine(): string {
  return programWords().map(shellWord).join(" ");
}

/** Command words of a daemon, which starts itself with less memory than a command. */
function daemonWords(): readonly string[] {
  if (Deno.env.has("PROCSUP_TEST_EXECUTABLE")) return programWords();
  const execPath = Deno.execPath();
  return fixedWords({ standalone: false, mainModule: MAIN, execPath, executable: undefined });
}

/** Names of the daemon's own files in a home. */
const ownNames = new Set(Object.values(pathsIn("")).map((path) => path.split("/")[1]));

/** On a busy machine a daemon takes seconds to start, or to answer. */
const DAEMON_WAIT_MS = 60_000;

/** Deno's folder: with another `HOME`, a program run from its source would download all packages. */
export function denoDir(): string {
  return Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`;
}

/** Runs one command of the program in a home. */
export function cli(home: string, ...args: string[]): Promise<Ran> {
  return cliIn(home, {}, ...args);
}

/** Like `cli()`, with additional environment variables. */
export async function cliIn(
  home: string,
  env: Readonly<Record<string, string>>,
  ...args: string[]
): Promise<Ran> {
  const [program, ...words] = programWords();
  return await outputOf(
    new Deno.Command(program!, {
      args: [...words, ...args],
      env: { PROCSUP_HOME: home, NO_COLOR: "1", DENO_DIR: denoDir(), ...env },
      stdin: "null",
    }),
  );
}

/** A daemon in a temporary home. */
export class TestDaemon implements AsyncDisposable {
  readonly home: string;
  readonly client: DaemonClient;
  readonly #temp: AsyncDisposable;
  #process: Deno.ChildProcess | undefined;
  #ended: Deno.CommandStatus | undefined;

  private constructor(temp: AsyncDisposable & { path: string }) {
    this.#temp = temp;
    this.home = temp.path;
    this.client = new DaemonClient(temp.path);
  }

  /** Starts a daemon in a new home; `nofile` limits its descriptors. */
  static async start({ nofile }: { readonly nofile?: number } = {}): Promise<TestDaemon> {
    const daemon = new TestDaemon(await tempHome());
    await daemon.run({}, nofile);
    return daemon;
  }

  /** A daemon for all tests of a file. The apps and files of each test are removed after it. */
  static ofFile(): TestDaemon {
    const daemon = new TestDaemon(tempHome());
    Deno.test.beforeAll(() => daemon.run());
    Deno.test.afterEach(() => daemon.clear());
    Deno.test.afterAll(() => daemon[Symbol.asyncDispose]());
    return daemon;
  }

  get pid(): number {
    return this.#process!.pid;
  }

  /** Starts a daemon in this home after the previous one ended, and waits until it answers. */
  async run(env: Record<string, string> = {}, nofile?: number): Promise<void> {
    const limited = ["/bin/sh", "-c", `ulimit -n ${nofile} && exec "$@"`, "sh"];
    const [program, ...words] = [...nofile === undefined ? [] : limited, ...daemonWords()];
    const command = new Deno.Command(program!, {
      args: [...words, "daemon"],
      env: { PROCSUP_HOME: this.home, ...env },
      stdin: "null",
      stdout: "null",
      stderr: "inherit",
    });
    this.#ended = undefined;
    const process = this.#process = command.spawn();
    void process.status.then((status) => {
      if (this.#process === process) this.#ended = status;
    });
    await waitFor(async () => this.#ended !== undefined || await this.answers(), {
      what: "the daemon to answer",
      timeoutMs: DAEMON_WAIT_MS,
    });
    if (this.#ended === undefined) return;
    throw new Error(
      `The daemon of ${this.home} ended before it answered: ${JSON.stringify(this.#ended)}`,
    );
  }

  /** Starts a daemon in this home if there is none. */
  async revive(): Promise<void> {
    // A daemon that is too busy to answer is still there. A second one would take its place when it
    // ends, and run forever.
    await waitFor(async () => this.#ended !== undefined || await this.answers(), {
      what: "the daemon to answer or to end",
      timeoutMs: DAEMON_WAIT_MS,
    });
    if (this.#ended !== undefined && !await this.answers()) await this.run();
  }

  /** Whether it answers. */
  async answers(): Promise<boolean> {
    return await this.client.call("ping").then(() => true, () => false);
  }

  /** Sends SIGKILL, like the kernel when memory runs out. */
  async kill(): Promise<void> {
    this.#process!.kill("SIGKILL");
    await this.#process!.status;
  }

  /** Stops only the daemon. Apps keep running. */
  async terminate(): Promise<number> {
    this.#process!.kill("SIGTERM");
    return (await this.#process!.status).code;
  }

  /** Starts a shell script as a process. */
  async startScript(name: string, script: string, config: Record<string, unknown> = {}) {
    return await this.client.call("start", {
      name,
      entrypoint: "/bin/sh",
      args: ["-c", script],
      cwd: "/",
      ...config,
    });
  }

  /** One process. */
  status(target: string): Promise<ProcessJson> {
    return this.client.call("status", target);
  }

  /** Path of the record of a process, by the beginning of its id. */
  recordOf(id: string): string {
    const folder = `${this.home}/state/processes`;
    for (const { name } of Deno.readDirSync(folder)) {
      if (name.startsWith(id) && name.endsWith(".json")) return `${folder}/${name}`;
    }
    throw new Error(`No record of ${id}`);
  }

  /** Runs one command of the program against this daemon. */
  cli(...args: string[]): Promise<Ran> {
    return cli(this.home, ...args);
  }

  /** Deletes every process, token and webhook, and all files that are not the daemon's. */
  async clear(): Promise<void> {
    await this.revive();
    await this.#stopAll();
    await this.client.call("delete", "all");
    for (const { name } of await this.client.call("token_list")) {
      await this.client.call("token_revoke", { name });
    }
    for (const { name } of await this.client.call("webhook_list")) {
      await this.client.call("webhook_delete", { name });
    }
    for (const { name } of Deno.readDirSync(this.home)) {
      if (!ownNames.has(name)) Deno.removeSync(`${this.home}/${name}`, { recursive: true });
    }
    // The daemon may still be compressing a log.
    await waitFor(() => {
      for (const { name } of Deno.readDirSync(`${this.home}/apps`)) {
        Deno.removeSync(`${this.home}/apps/${name}`, { recursive: true });
      }
      return true;
    }, { what: "the logs to be removed" });
  }

  async #stopAll(): Promise<void> {
    // Without grace: what a test started may ignore every other signal.
    await this.client.call("stop", { target: "all", force: true }).catch(() => {});
  }

  /** Stops every process and the daemon, and removes the home. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.revive();
    await this.#stopAll();
    // On a machine that stands still, a daemon that stops many apps answers no ping meanwhile.
    await this.client.call("shutdown").catch((error) => {
      if (!hasCode(error, "daemon_hangs")) throw error;
    });
    await waitFor(() => this.#ended !== undefined, {
      what: `the daemon of ${this.home} to end`,
      timeoutMs: DAEMON_WAIT_MS,
    });
    await this.#temp[Symbol.asyncDispose]();
  }
}

/** Whether a process with this pid is alive, or one of its threads. A zombie is not. */
export function isAlive(pid: number): boolean {
  const row = processRow(pid);
  return row !== undefined && !row.zombie;
}
