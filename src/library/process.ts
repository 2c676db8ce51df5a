/** One process, as a program that started it has it. */

import type { DurationInput } from "../model/duration.ts";
import { ProcsupError } from "../model/errors.ts";
import type { ProcessInfo, ProcessState } from "../model/process_info.ts";
import type { SignalName } from "../model/signal.ts";
import type {
  CallOptions,
  LineOptions,
  OutputLine,
  StartOptions,
  StopOptions,
  WaitOptions,
} from "./options.ts";

/** The verbs on targets that a process is made of. */
export interface ProcessVerbs {
  /** One process. */
  inspect(target: string, options?: CallOptions): ProcessInfo | Promise<ProcessInfo>;
  /** Starts processes that exist. */
  start(target: string, options?: StartOptions): Promise<unknown>;
  /** Ends processes and all they started. A duration is the grace before SIGKILL. */
  stop(target: string, how?: DurationInput | StopOptions): Promise<void>;
  /** Stops and starts. */
  restart(target: string, options?: StartOptions): Promise<void>;
  /** Reloads gracefully. */
  reload(target: string, options?: StartOptions): Promise<void>;
  /** Sends a signal to the apps themselves, by name or number. */
  signal(target: string, name: SignalName | number, options?: CallOptions): Promise<void>;
  /** Writes a text to the standard input of apps with `stdin` or `tty`. */
  send(target: string, text: string, options?: CallOptions): Promise<void>;
  /** Empties logs and removes their archives. */
  flush(target: string, options?: CallOptions): Promise<void>;
  /** Stops processes and forgets them; their logs stay. */
  remove(target: string, options?: CallOptions): Promise<void>;
  /** Resolves when each process has come to a point in its life, or at once if it is there. */
  wait(target: string, options?: WaitOptions): Promise<readonly ProcessInfo[]>;
  /** Lines of logs, of both streams and of several processes in the order of their time. */
  lines(target: string, options?: LineOptions): ReadableStream<OutputLine>;
}

/**
 * A process of a `Manager` or of a `Client`. Of several instances `id`, `pid` and `state` are those of
 * the first; every method acts on all of them. At the end of `await using` it is removed.
 */
export class Process implements AsyncDisposable {
  /** Id of the (first) instance. */
  readonly id: string;
  /** Its name; that of all instances together where there are several. */
  readonly name: string;
  readonly #host: ProcessVerbs;
  readonly #now: () => ProcessInfo | undefined;
  #last: ProcessInfo;

  /** Use `start()`, `add()` or `get()`. `now` gives what is known without a request. */
  constructor(host: ProcessVerbs, info: ProcessInfo, now: () => ProcessInfo | undefined) {
    this.id = info.id;
    this.name = info.config.name;
    this.#host = host;
    this.#now = now;
    this.#last = info;
  }

  /**
   * All that is known of it. A manager's process tells how it stands now; a client's how it stood
   * after the last method called here: `inspect()` asks the daemon.
   */
  get info(): ProcessInfo {
    return this.#last = this.#now() ?? this.#last;
  }

  /** Process id, 0 while nothing runs; see `info`. */
  get pid(): number {
    return this.info.pid;
  }

  /** Where it is in its life; see `info`. */
  get state(): ProcessState {
    return this.info.state;
  }

  /** How it stands now. */
  async inspect(options: CallOptions = {}): Promise<ProcessInfo> {
    return this.#last = await this.#host.inspect(this.id, options);
  }

  /** Starts it again. */
  async start(options: StartOptions = {}): Promise<void> {
    await this.#host.start(this.name, options);
    await this.inspect(options);
  }

  /** Ends it and all it started. */
  async stop(how: DurationInput | StopOptions = {}): Promise<void> {
    await this.#host.stop(this.name, how);
    await this.inspect();
  }

  /** Stops and starts it. */
  async restart(options: StartOptions = {}): Promise<void> {
    await this.#host.restart(this.name, options);
    await this.inspect(options);
  }

  /** Reloads it gracefully. */
  async reload(options: StartOptions = {}): Promise<void> {
    await this.#host.reload(this.name, options);
    await this.inspect(options);
  }

  /** Stops it and forgets it; its logs stay. */
  async remove(options: CallOptions = {}): Promise<void> {
    await this.#host.remove(this.name, options);
  }

  /** Sends a signal to the app itself. */
  async signal(name: SignalName | number, options: CallOptions = {}): Promise<void> {
    await this.#host.signal(this.name, name, options);
  }

  /** Writes a text to its standard input, which `stdin` or `tty` keeps open. */
  async send(text: string, options: CallOptions = {}): Promise<void> {
    await this.#host.send(this.name, text, options);
  }

  /** Empties its logs. */
  async flush(options: CallOptions = {}): Promise<void> {
    await this.#host.flush(this.name, options);
  }

  /** Resolves when it has come to a point in its life, or at once if it is there: see `WaitOptions`. */
  async wait(options: WaitOptions = {}): Promise<ProcessInfo> {
    const all = await this.#host.wait(this.name, options);
    return this.#last = all.find(({ id }) => id === this.id) ?? all[0] ?? this.info;
  }

  /** The lines that it writes, of standard output and standard error. */
  lines(options: LineOptions = {}): ReadableStream<OutputLine> {
    return this.#host.lines(this.name, options);
  }

  /** Removes it, unless it or its manager is gone. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.remove().catch((error) => {
      const isGone = error instanceof ProcsupError &&
        ["process_not_found", "closed"].includes(error.code);
      if (!isGone) throw error;
    });
  }
}
