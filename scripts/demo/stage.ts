// deno-lint-ignore-file no-console
/** The stage of the tour: a home of its own, the real command line, and cleanup. */

import { comesTrue } from "../../src/platform/clock.ts";
import { processRow } from "../../src/platform/scan/process_table.ts";
import { lstatIfAny } from "../../src/platform/files/stat.ts";
import type { ProcessJson } from "../../src/protocol/wire.ts";

const ROOT = import.meta.dirname!.replace(/\/scripts\/demo$/, "");

/** Folder of the demo apps. */
export const APPS = `${ROOT}/scripts/demo/apps`;

/** The command that starts procsup: the built executable if one is named, otherwise the source. */
export const WORDS: readonly [string, ...string[]] = words(Deno.env.get("PROCSUP_TEST_EXECUTABLE"));

function words(built: string | undefined): [string, ...string[]] {
  // PATH may have no `deno`: use the one that runs this script.
  return built === undefined ? [Deno.execPath(), "run", "-A", `${ROOT}/main.ts`] : [built];
}

/** Identifies a process: a later one with the same pid has another start time. */
interface Seen {
  readonly pid: number;
  readonly start: string;
}

/** A temporary home in which procsup runs as a user would run it. */
export class Stage {
  readonly home: string = Deno.makeTempDirSync({ dir: "/tmp", prefix: "procsup-demo-" });
  readonly #seen = new Map<number, Seen>();
  readonly #commands = new Set<Promise<unknown>>();
  #closing: Promise<string[]> | undefined;

  /** Prints `$ procsup …`, runs it with its output on the terminal, and returns its exit code. */
  async show(...args: string[]): Promise<number> {
    this.prompt(`procsup ${args.join(" ")}`);
    return (await this.#run(args, "inherit")).code;
  }

  /** Prints a command line that is executed by other means. */
  prompt(line: string): void {
    console.log(`\n%c$ ${line}`, "font-weight: bold");
  }

  /** All processes, as listed by the command line. */
  async list(): Promise<ProcessJson[]> {
    const { text } = await this.#run(["list", "--json"], "piped");
    const processes = JSON.parse(text) as ProcessJson[];
    for (const { pid } of processes) this.#remember(pid);
    return processes;
  }

  /** A process, as listed by the command line. */
  async app(name: string): Promise<ProcessJson> {
    return (await this.list()).find((process) => process.name === name)!;
  }

  /** The pid of the daemon, from its log. */
  daemonPid(): number {
    const log = Deno.readTextFileSync(`${this.home}/daemon.log`);
    const pid = Number([...log.matchAll(/runs as pid (\d+)/g)].at(-1)![1]);
    this.#remember(pid);
    return pid;
  }

  /** Lines that an app has written to its standard output. */
  lines(name: string): string[] {
    return Deno.readTextFileSync(`${this.home}/apps/${name}/stdout.log`).trimEnd().split("\n");
  }

  /** Stops everything, and returns what is left. */
  close(): Promise<string[]> {
    return this.#closing ??= this.#close();
  }

  async #close(): Promise<string[]> {
    // A running command could start a daemon after the shutdown below.
    await Promise.allSettled(this.#commands);
    if (lstatIfAny(`${this.home}/daemon.lock`) !== undefined) {
      // The tour may have been interrupted while no daemon was running.
      await this.#spawn(["daemon", "--detach"], "null").status;
      this.daemonPid();
      await this.#spawn(["shutdown", "--yes"], "null").status;
      await comesTrue(() => this.#alive().length === 0, { ms: 3000, everyMs: 20 });
    }
    const left = this.#alive().map((pid) => `process ${pid}`);
    Deno.removeSync(this.home, { recursive: true });
    return lstatIfAny(this.home) !== undefined ? [...left, this.home] : left;
  }

  #alive(): number[] {
    return [...this.#seen.values()].filter(isAlive).map(({ pid }) => pid);
  }

  #remember(pid: number): void {
    const row = pid > 0 ? processRow(pid) : undefined;
    if (row !== undefined) this.#seen.set(pid, { pid, start: row.start });
  }

  /** Runs a command to its end. If its output is piped, returns it as text. */
  async #run(args: readonly string[], output: Output): Promise<{ code: number; text: string }> {
    if (this.#closing !== undefined) throw new Error("The tour is over");
    const child = this.#spawn(args, output);
    const result = Promise.all([
      child.status,
      output === "piped" ? new Response(child.stdout).text() : "",
    ]);
    this.#commands.add(result);
    const [{ code }, text] = await result;
    this.#commands.delete(result);
    return { code, text };
  }

  #spawn(args: readonly string[], output: Output): Deno.ChildProcess {
    const [program, ...first] = WORDS;
    return new Deno.Command(program, {
      args: [...first, ...args],
      cwd: APPS,
      env: { PROCSUP_HOME: this.home },
      stdin: "null",
      stdout: output,
      stderr: output === "piped" ? "null" : output,
    }).spawn();
  }
}

type Output = "inherit" | "piped" | "null";

function isAlive({ pid, start }: Seen): boolean {
  const row = processRow(pid);
  return row !== undefined && !row.zombie && row.start === start;
}
