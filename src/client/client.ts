/** The verbs of a running daemon, typed. */

import {
  checkOptions,
  lineOptions,
  optionsOf,
  refuseUnknown,
  ROLLING_KEYS,
} from "../library/program_input.ts";
import type {
  CallOptions,
  LineOptions,
  OutputLine,
  Resurrected,
  RollingOptions,
  SaveOptions,
  StartOptions,
  WaitOptions,
} from "../library/options.ts";
import { type LaunchOptions, ProcessHost, type VerbOptions } from "../library/process_host.ts";
import { inLibraryWords, withLibraryWords } from "../library/words.ts";
import type { ProcessConfigInput } from "../model/config_input.ts";
import { ProcsupError } from "../model/errors.ts";
import { inputKeys } from "../model/key_spelling.ts";
import { snakeCase } from "../model/key_table.ts";
import { type LogLine, type LogStream, MAX_LINES } from "../model/log_line.ts";
import type { ProcessChange, ProcessInfo } from "../model/process_info.ts";
import { checkTarget } from "../model/target.ts";
import type { ChangeJson } from "../protocol/process_json.ts";
import { DaemonClient } from "../protocol/daemon_client.ts";
import { throwFailed } from "../protocol/envelope.ts";
import type { Input, Output, Payload, VerbMap, VerbName } from "../protocol/wire.ts";
import type {
  Alert,
  Cron,
  CronResult,
  History,
  MetricsHistory,
  MetricsPoint,
  Ping,
  Ports,
  ReconfigureResult,
  Release,
  SystemInfo,
  SystemMetrics,
  Why,
} from "./answers.ts";
import { openItems, streamOf } from "./streams.ts";
import { homeOf, UrlWay } from "./way.ts";
import {
  camelKeys,
  filterKeys,
  literal,
  newConfig,
  processChange,
  processInfo,
  searchOf,
  wireOptions,
} from "./wire_form.ts";

/** A daemon on this machine. */
export interface SocketOptions {
  /** Its home; default `$PROCSUP_HOME`, else `~/.procsup`. */
  readonly home?: string;
}

/** A daemon with a web listener. */
export interface UrlOptions {
  /** Such as `http://127.0.0.1:9615`, or `https://example.com/procsup` behind a proxy. */
  readonly url: string;
  /** The output of `procsup token`. */
  readonly token: string;
}

/** Selects the daemon. */
export type ClientOptions = SocketOptions | UrlOptions;

/** How a configuration is changed. */
export interface ReconfigureOptions extends RollingOptions {
  /** Resets all other keys to their defaults, except the name and the number of instances. */
  readonly replace?: boolean;
  /** Restore the old configuration of all instances if one fails; default true. */
  readonly rollbackOnFailure?: boolean;
}

/** Keys of a configuration to change; null removes a key. */
export type ConfigChanges = {
  readonly [K in Exclude<keyof ProcessConfigInput, "name" | "instances">]?:
    | ProcessConfigInput[K]
    | null;
};

/** Selects a part of the metrics history. */
export interface MetricsQuery extends CallOptions {
  /** Start: `3h` ago, or an ISO 8601 time; default `1h`. */
  readonly since?: string;
  /** End; default: now. */
  readonly until?: string;
  /** Maximum number of points of each process, up to 10,000; default 120. */
  readonly points?: number;
  /** Only these figures of each point; default: all. */
  readonly fields?: readonly Exclude<keyof MetricsPoint, "at">[];
}

/** Selects events. */
export interface EventQuery extends CallOptions {
  /** Only processes that match now; default: all processes, including future ones. */
  readonly target?: string;
}

/**
 * A client of one daemon. Keeps no connection open between calls. Every method throws
 * `ProcsupError`: `daemon_unreachable` if no daemon answers, `closed` if it goes away during the
 * call, `forbidden` if a Deno permission is missing, otherwise the daemon's error. A failed start
 * throws `StartFailedError`.
 */
export class Client extends ProcessHost {
  readonly #daemon: DaemonClient;

  /**
   * Creates a client for this user's daemon, for a home or for a URL. Sends nothing yet. Throws
   * `forbidden` if Deno may not look for the home, and `bad_request` for an invalid home, URL or
   * token.
   */
  constructor(options: ClientOptions = {}) {
    super();
    refuseUnknown("options", options, ["home", "url", "token"], "bad_request");
    this.#daemon = new DaemonClient(
      "url" in options ? new UrlWay(options.url, options.token) : homeOf(options.home),
    );
  }

  /** The daemon's version. Needs no token. */
  async ping(options: CallOptions = {}): Promise<Ping> {
    return await this.#call("ping", {}, options);
  }

  /** All processes. */
  override async list(options: CallOptions = {}): Promise<readonly ProcessInfo[]> {
    return (await this.#call("list", {}, options)).map(processInfo);
  }

  /** One process. */
  override async inspect(target: string, options: CallOptions = {}): Promise<ProcessInfo> {
    return processInfo(await this.#call("status", { target }, options));
  }

  /**
   * Changes the configuration of a process and all its instances. Running instances are replaced in
   * batches, but only if a changed key needs it.
   */
  async reconfigure(
    target: string,
    config: ConfigChanges,
    options: ReconfigureOptions = {},
  ): Promise<ReconfigureResult> {
    const { replace = false, signal, ...rolling } = checkOptions(options, RECONFIGURE_KEYS);
    const wire = withLibraryWords(() => inputKeys(config));
    const payload = { target, replace, config: wire, ...wireOptions(rolling) };
    return camelKeys(await this.#call("reconfigure", payload, { signal }));
  }

  /**
   * Resolves when each process has reached a state, or at once if it has already. Throws `timeout`,
   * `start_failed` if a process failed for good, and `wrong_state` if one is deleted meanwhile.
   */
  override async wait(target: string, options: WaitOptions = {}): Promise<readonly ProcessInfo[]> {
    const { signal, ...how } = optionsOf("wait", options);
    const payload = { target, ...wireOptions(how) };
    return (await this.#call("wait", payload, { signal })).map(processInfo);
  }

  /** Explains the state of a process. */
  async why(target: string, options: CallOptions = {}): Promise<Why> {
    const { process, hints, ...rest } = await this.#call("why", { target }, options);
    return {
      ...camelKeys<Omit<Why, "process" | "hints">>(rest),
      process: processInfo(process),
      hints,
    };
  }

  /** The last results of the hooks and health checks of a process. */
  async history(target: string, options: CallOptions = {}): Promise<History> {
    return camelKeys(await this.#call("history", { target }, options));
  }

  /** The changes of an app on record, the newest last. */
  async releases(target: string, options: CallOptions = {}): Promise<readonly Release[]> {
    return camelKeys(await this.#call("releases", { target }, options));
  }

  /**
   * Resource usage of processes over time, or of the host without a target. Finds deleted processes
   * by name. Times are as on the command line: `3h` ago, or ISO 8601.
   */
  async metricsHistory(target?: string, options: MetricsQuery = {}): Promise<MetricsHistory> {
    const { signal, fields, ...range } = checkOptions(options, METRICS_KEYS);
    const names = fields?.map(snakeCase) as Input<"metrics_history">["fields"];
    const payload = {
      ...range,
      ...(target !== undefined && { target }),
      ...(names && { fields: names }),
    };
    return camelKeys(await this.#call("metrics_history", payload, { signal }));
  }

  /**
   * Lines of logs, merged by time over streams and processes. With `follow`, those of processes that
   * come later are included; the stream ends when all of its processes are removed (unless the
   * target is `all`), and fails with `closed` if the daemon goes away.
   */
  override lines(target: string, options: LineOptions = {}): ReadableStream<OutputLine> {
    const { signal, newOnly, stream, tail = 0, follow = false, ...filter } = withLibraryWords(() =>
      lineOptions(options)
    );
    const search = withLibraryWords(() => {
      checkTarget(target);
      if (tail > MAX_LINES) {
        const limit = `expected a number of lines up to ${MAX_LINES}, 0 for all`;
        throw new ProcsupError("bad_request", `Invalid "tail" ${tail}: ${limit}`);
      }
      return searchOf({
        ...{ target, follow, new: newOnly, lines: tail, ...filterKeys(filter) },
        ...(stream === undefined ? {} : { [stream]: true }),
      });
    });
    const opening = this.#open("logs", search, signal, {
      forEver: false,
      read: ({ at, ...line }: LogLine): OutputLine => ({ ...line, at: new Date(at) }),
    });
    return streamOf(opening, signal);
  }

  /** Events of processes from now on. */
  async events(options: EventQuery = {}): Promise<ReadableStream<ProcessChange>> {
    const { target, signal } = checkOptions(options, EVENT_KEYS);
    if (target !== undefined) checkTarget(target);
    const read = (change: ChangeJson) => processChange(change);
    return await this.#open("events", searchOf({ target }), signal, { forEver: true, read });
  }

  /** The alerts of all processes and of the host, with their states. */
  async alerts(options: CallOptions = {}): Promise<readonly Alert[]> {
    return camelKeys(await this.#call("alerts", {}, options));
  }

  /** Schedules of all processes or of a target, with their next times. */
  async cronList(target?: string, options: CallOptions = {}): Promise<readonly Cron[]> {
    const payload = target === undefined ? {} : { name: target };
    return camelKeys(await this.#call("cron_list", payload, options));
  }

  /** Runs a job now. Resolves when it has started. */
  async cronRun(target: string, options: CallOptions = {}): Promise<CronResult> {
    return await this.#call("cron_run", { name: target }, options);
  }

  /** Enables schedules. */
  async cronStart(target: string, options: CallOptions = {}): Promise<CronResult> {
    return await this.#call("cron_start", { name: target }, options);
  }

  /** Disables schedules. Current runs continue. */
  async cronStop(target: string, options: CallOptions = {}): Promise<CronResult> {
    return await this.#call("cron_stop", { name: target }, options);
  }

  /** Figures of the machine and the daemon. */
  async systemMetrics(options: CallOptions = {}): Promise<SystemMetrics> {
    return camelKeys(await this.#call("system_metrics", {}, options));
  }

  /** Where the daemon keeps its files, and the free space there. */
  async systemInfo(options: CallOptions = {}): Promise<SystemInfo> {
    return camelKeys(await this.#call("system_info", {}, options));
  }

  /** Which processes listen on which TCP ports. */
  async ports(options: CallOptions = {}): Promise<readonly Ports[]> {
    return camelKeys(await this.#call("ports", {}, options));
  }

  /**
   * Saves the list of processes; returns their number. Throws `wrong_state` if the list is empty.
   */
  override async save(options: SaveOptions = {}): Promise<number> {
    const { signal, ...how } = optionsOf("save", options);
    return (await this.#call("save", wireOptions(how), { signal })).count;
  }

  /** Restores the saved processes. */
  override async resurrect(options: CallOptions = {}): Promise<Resurrected> {
    const { count, errors } = await this.#call("resurrect", {}, options);
    return { count, errors };
  }

  /** Carries out a verb on the processes of a target. */
  protected override async perform<V extends keyof VerbOptions>(
    verb: V,
    target: string,
    how: VerbOptions[V],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const name = verb === "remove" ? "delete" : snakeCase(verb) as VerbName;
    await this.#call(name, { target, ...wireOptions(how) }, { signal });
  }

  /** Registers a process. */
  protected override async launch(
    config: ProcessConfigInput,
    { start, wait, signal }: LaunchOptions,
  ): Promise<ProcessInfo> {
    const payload = { config: withLibraryWords(() => newConfig(config)), start, wait };
    return startedProcess(await this.#call("add", payload, { signal }));
  }

  /** Starts processes that exist. */
  protected override async startAgain(
    target: string,
    { wait, signal }: StartOptions,
  ): Promise<ProcessInfo> {
    return startedProcess(await this.#call("start", { target, wait }, { signal }));
  }

  /** Applies configurations to processes. */
  protected override async bringTo(
    configs: readonly ProcessConfigInput[],
    { wait, signal }: StartOptions,
  ): Promise<void> {
    const processes = withLibraryWords(() => configs.map((config) => literal(newConfig(config))));
    const { errors } = await this.#call("start_all", { config: { processes }, wait }, { signal });
    if (errors.length > 0) throw new ProcsupError("start_failed", errors.join("; "));
  }

  /** A whole log of a process. In a large one, every line ends with `\n` alone. */
  protected override async output(
    target: string,
    stream: LogStream,
    options: CallOptions,
  ): Promise<string> {
    const payload = { target, lines: 0, stderr: stream === "stderr" };
    const { logs } = await this.#call("logs", payload, options);
    if (new TextEncoder().encode(logs).length < MAX_BYTES) return logs;
    const lines = await Array.fromAsync(this.lines(target, { stream, ...options }));
    return lines.map(({ line, partial }) => partial ? line : `${line}\n`).join("");
  }

  async #call<N extends VerbName>(
    name: N,
    payload: Sent<N>,
    options: CallOptions,
  ): Promise<Output<N>> {
    try {
      optionsOf("call", options);
      const fields = payload as Readonly<Record<string, unknown>>;
      if ("target" in fields) checkTarget(fields.target);
      if (name.startsWith("cron_") && "name" in fields) checkTarget(fields.name);
      const data = await this.#daemon.call(name, payload as VerbMap[N]["payload"], options);
      throwFailed(data);
      return data;
    } catch (error) {
      throw inLibraryWords(error);
    }
  }

  async #open<W, T>(
    what: "events" | "logs",
    search: URLSearchParams,
    signal: AbortSignal | undefined,
    how: { readonly forEver: boolean; readonly read: (item: W) => T },
  ): Promise<ReadableStream<T>> {
    try {
      return await openItems<W, T>(
        (signal) => this.#daemon.stream(`/${what}?${search}`, signal),
        { signal, ...how },
      );
    } catch (error) {
      throw inLibraryWords(error);
    }
  }
}

const RECONFIGURE_KEYS: readonly (keyof ReconfigureOptions)[] = [...ROLLING_KEYS, "replace"];
const METRICS_KEYS: readonly (keyof MetricsQuery)[] = [
  ...["since", "until", "points", "fields", "signal"] as const,
];
const EVENT_KEYS: readonly (keyof EventQuery)[] = ["target", "signal"];

/** The process in the answer to a start. */
function startedProcess(
  { results: _, from_shell: __, ...process }: Output<"start">,
): ProcessInfo {
  return processInfo(process);
}

/** A shorter text is the whole log: the daemon sends the last 1 MiB, less a byte order mark. */
const MAX_BYTES = 1024 * 1024 - 3;

/** The payload of a verb as an object. */
type Sent<N extends VerbName> = Payload<N> extends undefined ? Record<string, never>
  : Exclude<Payload<N>, string | undefined>;
