/** The last runs of the hooks and health checks of a process, in memory. The daemon saves the checks. */

import type { HookName } from "../model/process_config.ts";
import type { Run } from "../model/process_state.ts";
import { type Listener, stillListening } from "../platform/scan/listening_ports.ts";
import type { Background } from "../platform/scan/process_group.ts";

/** A hook, or the command of a watch, which runs like one. */
export type CommandName = HookName | "watch";

export interface HookRun {
  readonly hook: CommandName;
  /** When it began, in milliseconds since the epoch. */
  readonly at: number;
  readonly durationMs: number;
  /** Null when it did not end by itself, or could not be run at all. */
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  /** The end of what it printed, or why it could not be run; without values of secrets. */
  readonly output: string;
}

export interface HealthCheckRun {
  /** When it began, in milliseconds since the epoch. */
  readonly at: number;
  readonly latencyMs: number;
  /** What was wrong; empty if nothing. */
  readonly problem: string;
}

/** Kept runs of hooks. */
const HOOKS = 20;
/** Kept runs of health check hooks: they are so frequent that they would push out all others. */
const CHECK_HOOKS = 10;
const CHECKS = 50;
const OUTPUT_BYTES = 2048;

export class Journal {
  #hooks: readonly HookRun[] = [];
  #checkHooks: readonly HookRun[] = [];
  #checks: readonly HealthCheckRun[] = [];
  readonly #underWay = new Set<Promise<unknown>>();

  /**
   * Where the output of the last run begins in the logs of standard output and error; undefined when
   * this daemon has neither launched nor adopted one.
   */
  outputFrom: readonly [stdout: number, stderr: number] | undefined;

  /**
   * What a failed `pre_start` printed, of an attempt that has launched nothing; undefined if the last
   * attempt has launched the app.
   */
  unlaunched: string | undefined;

  /** What the last run has left in the background, if anything. */
  background: Background | undefined;

  /** Sockets of the last run on which other processes still listened after its end. */
  leftSockets: ReadonlySet<string> = new Set();

  /** Processes that still listen on a port of the last run. */
  get listening(): readonly Listener[] {
    return stillListening(this.leftSockets);
  }

  /** The app was launched: the last output is that of this run. */
  launched({ outputFrom }: Run): void {
    this.outputFrom = outputFrom;
    this.unlaunched = undefined;
    this.background = undefined;
    this.leftSockets = new Set();
  }

  /** The run ended: its output is now of more interest than that of a reload that failed before. */
  ended(): void {
    this.unlaunched = undefined;
  }

  /** The last runs of hooks, the newest last. */
  get hooks(): readonly HookRun[] {
    return [...this.#hooks, ...this.#checkHooks].sort((a, b) => a.at - b.at);
  }

  /** The last health checks, the newest last. */
  get checks(): readonly HealthCheckRun[] {
    return this.#checks;
  }

  begun(over: Promise<unknown>): void {
    this.#underWay.add(over);
    const ended = () => this.#underWay.delete(over);
    over.then(ended, ended);
  }

  /** Resolves when the hooks in progress are over. */
  async over(): Promise<void> {
    await Promise.allSettled(this.#underWay);
  }

  /** A hook ended. Returns the run as it is kept. */
  ran(run: HookRun): HookRun {
    const kept = { ...run, output: endOf(run.output) };
    if (/HealthCheck$/.test(run.hook)) {
      this.#checkHooks = [...this.#checkHooks, kept].slice(-CHECK_HOOKS);
    } else this.#hooks = [...this.#hooks, kept].slice(-HOOKS);
    return kept;
  }

  /** Puts the checks of an earlier daemon before those of this one. */
  restoreChecks(earlier: readonly HealthCheckRun[]): void {
    this.#checks = [...earlier, ...this.#checks].slice(-CHECKS);
  }

  checked(run: HealthCheckRun): void {
    this.#checks = [...this.#checks, { ...run, problem: endOf(run.problem) }].slice(-CHECKS);
  }
}

/** The end of what a hook printed. A copy: a slice would keep all of it in memory. */
export function endOf(text: string): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= OUTPUT_BYTES) return text;
  return new TextDecoder().decode(bytes.subarray(-OUTPUT_BYTES)).replace(/^\ufffd+/, "");
}
