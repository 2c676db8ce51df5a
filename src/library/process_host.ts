/** What `Manager` and `Client` have in common: a program written for one runs with the other. */

import type { ProcessConfigInput } from "../model/config_input.ts";
import type { DurationInput } from "../model/duration.ts";
import { ProcsupError } from "../model/errors.ts";
import type { LogStream } from "../model/log_line.ts";
import type { ProcessInfo, ProcessState } from "../model/process_info.ts";
import type { SignalName } from "../model/signal.ts";
import { configsOf } from "./config_set.ts";
import { runJob } from "./run_job.ts";
import type {
  CallOptions,
  ConfigSet,
  JobInput,
  JobResult,
  LineOptions,
  OutputLine,
  Resurrected,
  RollingOptions,
  RunOptions,
  SaveOptions,
  StartOptions,
  StopOptions,
  WaitOptions,
} from "./options.ts";

/** How a process comes into a host. */
export interface LaunchOptions extends StartOptions {
  /** Whether it is started, too. */
  readonly start: boolean;
}

/**
 * Supervises processes, here or in a daemon. A target is a name, a base name of instances, an id or a
 * unique prefix of one, `all`, `ns:shop`, `tag:web` or `label:team=web`. What fails throws a
 * `ProcsupError`; a verb on several processes does what it can for all, and throws what went wrong for
 * the first that failed.
 */
export abstract class ProcessHost {
  /** All processes, by numeric id. */
  abstract list(options?: CallOptions): readonly ProcessInfo[] | Promise<readonly ProcessInfo[]>;
  /** One process. */
  abstract inspect(target: string, options?: CallOptions): ProcessInfo | Promise<ProcessInfo>;
  /** Ends processes and all they started. A duration is the grace before SIGKILL. */
  abstract stop(target: string, how?: DurationInput | StopOptions): Promise<void>;
  /** Stops and starts. */
  abstract restart(target: string, options?: StartOptions): Promise<void>;
  /** Reloads gracefully. */
  abstract reload(target: string, options?: StartOptions): Promise<void>;
  /** Reloads the instances of a process a batch at a time, and goes on no further when one fails. */
  abstract rollingReload(target: string, options?: RollingOptions): Promise<void>;
  /** Changes how many instances of a process there are: `4`, `"+2"` or `"-1"`. */
  abstract scale(name: string, instances: number | string, options?: StartOptions): Promise<void>;
  /** Sends a signal to the apps themselves, by name or number. */
  abstract signal(target: string, name: SignalName | number, options?: CallOptions): Promise<void>;
  /** Writes a text to the standard input of apps with `stdin` or `tty`. */
  abstract send(target: string, text: string, options?: CallOptions): Promise<void>;
  /** Empties logs and removes their archives. */
  abstract flush(target: string, options?: CallOptions): Promise<void>;
  /** Stops processes and forgets them; their logs stay. */
  abstract remove(target: string, options?: CallOptions): Promise<void>;
  /** Resolves when each process has come to a point in its life, or at once if it is there. */
  abstract wait(target: string, options?: WaitOptions): Promise<readonly ProcessInfo[]>;
  /** Lines of logs, of both streams and of several processes in the order of their time. */
  abstract lines(target: string, options?: LineOptions): ReadableStream<OutputLine>;
  /** Saves the list of processes; returns how many. */
  abstract save(options?: SaveOptions): Promise<number>;
  /** Brings back the saved processes that are not here, and starts those that were up. */
  abstract resurrect(options?: CallOptions): Promise<Resurrected>;

  /** Registers a process, and starts it if so meant; the (first) process. */
  protected abstract launch(
    config: ProcessConfigInput,
    options: LaunchOptions,
  ): Promise<ProcessInfo>;
  /** Starts processes that exist; the first of them. */
  protected abstract startAgain(target: string, options: StartOptions): Promise<ProcessInfo>;
  /** Makes processes what configurations say. */
  protected abstract bringTo(
    configs: readonly ProcessConfigInput[],
    options: StartOptions,
  ): Promise<void>;
  /** All that a process wrote to one of its logs. */
  protected abstract output(
    target: string,
    stream: LogStream,
    options: CallOptions,
  ): Promise<string>;
  /** What is known of a process without a request. */
  protected known(_id: string): ProcessInfo | undefined {
    return undefined;
  }

  /**
   * Starts a new process, or with a target processes that exist. Without `cwd` it runs in the folder of
   * its script, a program in the current directory. When it does not come up, a `StartFailedError` is
   * thrown, and the process stays in the state that the error tells.
   */
  async start(what: string | ProcessConfigInput, options: StartOptions = {}): Promise<Process> {
    return this.#process(
      typeof what === "string"
        ? await this.startAgain(what, options)
        : await this.launch(what, { ...options, start: true }),
    );
  }

  /** Registers a new process without starting it. */
  async add(config: ProcessConfigInput, options: CallOptions = {}): Promise<Process> {
    return this.#process(await this.launch(config, { ...options, start: false }));
  }

  /** A process that exists. */
  async get(target: string, options: CallOptions = {}): Promise<Process> {
    return this.#process(await this.inspect(target, options));
  }

  /**
   * Runs a job to its end and returns its result: a code other than 0 is not an error. Throws
   * `StartFailedError` when it cannot be started. Aborted or out of time, the job is stopped.
   */
  async run(config: JobInput, options: RunOptions = {}): Promise<JobResult> {
    const outputOf = this.output.bind(this);
    return await runJob(this, config, options, outputOf);
  }

  /**
   * Makes processes what a configuration says, with as few restarts as possible: new ones are added, those that
   * changed are replaced, all are started. Other processes are left alone. Nothing is touched when
   * any entry is wrong. Returns the processes by name.
   */
  async apply<N extends string>(
    config: ConfigSet<N>,
    options: StartOptions = {},
  ): Promise<Record<N, Process>> {
    const configs = configsOf(config);
    await this.bringTo(configs, options);
    const infos = Map.groupBy(await this.list(options), (info) => info.config.name);
    const entries = configs.flatMap(({ name }) => {
      const [first] = infos.get(name) ?? [];
      return first === undefined ? [] : [[name, this.#process(first)]];
    });
    return Object.fromEntries(entries);
  }

  /** Makes one process what its configuration says, and starts it: a call that can be repeated. */
  async ensure(
    { name, ...config }: ProcessConfigInput,
    options: StartOptions = {},
  ): Promise<Process> {
    return (await this.apply({ processes: { [name]: config } }, options))[name]!;
  }

  #process(info: ProcessInfo): Process {
    return new Process(this, info, () => this.known(info.id));
  }
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
  readonly #host: ProcessHost;
  readonly #now: () => ProcessInfo | undefined;
  #last: ProcessInfo;

  /** Use `start()`, `add()` or `get()`. `now` gives what is known without a request. */
  constructor(host: ProcessHost, info: ProcessInfo, now: () => ProcessInfo | undefined) {
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
