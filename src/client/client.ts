/** The verbs of a running daemon, typed. */

import type {
  CallOptions,
  LineOptions,
  OutputLine,
  Resurrected,
  RollingOptions,
  SaveOptions,
  StartOptions,
  StopOptions,
  WaitOptions,
} from "../library/options.ts";
import { type LaunchOptions, ProcessHost } from "../library/process_host.ts";
import { lineOptions, optionsOf, refuseUnknown, stopOptions } from "../library/known_keys.ts";
import { hintText, inLibraryWords, withLibraryWords } from "../library/words.ts";
import type { ProcessConfigInput } from "../model/config_input.ts";
import type { DurationInput } from "../model/duration.ts";
import { ProcsupError } from "../model/errors.ts";
import type { LogLine, LogStream } from "../model/log_line.ts";
import type { ProcessChange } from "../model/process_change.ts";
import type { ProcessInfo } from "../model/process_info.ts";
import type { SignalName } from "../model/signal.ts";
import type { ChangeJson } from "../protocol/change_json.ts";
import { throwFailed } from "../protocol/failed_result.ts";
import type { Output, Payload, VerbName } from "../protocol/verbs/types.ts";
import type {
  Cron,
  CronResult,
  History,
  MetricsHistory,
  Ping,
  Ports,
  ReconfigureResult,
  SystemInfo,
  SystemMetrics,
  Why,
} from "./answers.ts";
import { camelKeys, processChange, processInfo } from "./from_wire.ts";
import { openItems, streamOf } from "./items.ts";
import type {
  ClientOptions,
  ConfigChanges,
  EventQuery,
  MetricsQuery,
  ReconfigureOptions,
} from "./options.ts";
import { SocketTransport } from "./socket_transport.ts";
import type { Fields, Transport } from "./transport.ts";
import { UrlTransport } from "./url_transport.ts";
import {
  checkTarget,
  durationText,
  filterKeys,
  literal,
  newConfig,
  rollingKeys,
  searchOf,
  wireConfig,
} from "./wire_input.ts";

/**
 * A client of one daemon. Keeps no connection open between calls. Every method throws
 * `ProcsupError`: `daemon_unreachable` if no daemon answers, `closed` if it goes away during the
 * call, `forbidden` if a Deno permission is missing, otherwise the daemon's error. A failed start
 * throws `StartFailedError`.
 */
export class Client extends ProcessHost {
  readonly #transport: Transport;

  /**
   * Creates a client for this user's daemon, for a home or for a URL. Sends nothing yet. Throws
   * `forbidden` if Deno may not look for the home, and `bad_request` for an invalid home, URL or
   * token.
   */
  constructor(options: ClientOptions = {}) {
    super();
    refuseUnknown("options", options, ["home", "url", "token"], "bad_request");
    this.#transport = "url" in options
      ? new UrlTransport(options.url, options.token)
      : new SocketTransport(options.home);
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

  /** Stops processes and everything they started. */
  override async stop(target: string, how: DurationInput | StopOptions = {}): Promise<void> {
    const { force, timeout, ...options } = withLibraryWords(() => stopOptions(how));
    await this.#call("stop", { target, force, timeout: durationText(timeout) }, options);
  }

  /** Stops and starts. */
  override async restart(target: string, options: StartOptions = {}): Promise<void> {
    const { wait, signal } = optionsOf("start", options);
    await this.#call("restart", { target, wait }, { signal });
  }

  /** Reloads gracefully. */
  override async reload(target: string, options: StartOptions = {}): Promise<void> {
    const { wait, signal } = optionsOf("start", options);
    await this.#call("reload", { target, wait }, { signal });
  }

  /** Reloads the instances of a process in batches. Stops at the first failure. */
  override async rollingReload(target: string, options: RollingOptions = {}): Promise<void> {
    const { signal, ...rolling } = optionsOf("rolling", options);
    await this.#call("rolling_reload", { target, ...rollingKeys(rolling) }, { signal });
  }

  /**
   * Changes the configuration of a process and all its instances. Running instances are replaced in
   * batches, but only if a changed key needs it.
   */
  async reconfigure(
    target: string,
    config: ConfigChanges,
    { replace = false, ...options }: ReconfigureOptions = {},
  ): Promise<ReconfigureResult> {
    const { signal, ...rolling } = optionsOf("rolling", options);
    const payload = { target, replace, config: wireConfig(config), ...rollingKeys(rolling) };
    return camelKeys(await this.#call("reconfigure", payload, { signal }));
  }

  /** Changes the number of instances of a process: `4`, `"+2"` or `"-1"`. */
  override async scale(
    name: string,
    instances: number | string,
    options: StartOptions = {},
  ): Promise<void> {
    const { wait, signal } = optionsOf("start", options);
    await this.#call("scale", { target: name, instances, wait }, { signal });
  }

  /** Sends a signal, by name or number, to the apps' main processes. */
  override async signal(
    target: string,
    signal: SignalName | number,
    options: CallOptions = {},
  ): Promise<void> {
    await this.#call("signal", { target, signal }, options);
  }

  /** Writes a text to the standard input of apps with `stdin` or `tty`. */
  override async send(target: string, text: string, options: CallOptions = {}): Promise<void> {
    await this.#call("send", { target, text }, options);
  }

  /** Empties logs and removes their archives. */
  override async flush(target: string, options: CallOptions = {}): Promise<void> {
    await this.#call("flush", { target }, options);
  }

  /** Stops processes and removes them; their logs stay. */
  override async remove(target: string, options: CallOptions = {}): Promise<void> {
    await this.#call("delete", { target }, options);
  }

  /**
   * Resolves when each process has reached a state, or at once if it has already. Throws `timeout`,
   * and `wrong_state` if a process is deleted meanwhile.
   */
  override async wait(
    target: string,
    options: WaitOptions = {},
  ): Promise<readonly ProcessInfo[]> {
    const { for: point, timeout, signal } = optionsOf("wait", options);
    const payload = { target, for: point, timeout: durationText(timeout) };
    return (await this.#call("wait", payload, { signal })).map(processInfo);
  }

  /** Explains the state of a process. */
  async why(target: string, options: CallOptions = {}): Promise<Why> {
    const { process, hints, ...rest } = await this.#call("why", { target }, options);
    return {
      ...camelKeys<Omit<Why, "process" | "hints">>(rest),
      process: processInfo(process),
      hints: hints.flatMap((hint) => hintText(hint) ?? []),
    };
  }

  /** The last results of the hooks and health checks of a process. */
  async history(target: string, options: CallOptions = {}): Promise<History> {
    return camelKeys(await this.#call("history", { target }, options));
  }

  /**
   * Resource usage of processes over time, or of the host without a target. Finds deleted processes
   * by name. Times are as on the command line: `3h` ago, or ISO 8601.
   */
  async metricsHistory(
    target?: string,
    { signal, ...range }: MetricsQuery = {},
  ): Promise<MetricsHistory> {
    return camelKeys(await this.#call("metrics_history", { target, ...range }, { signal }));
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
  async events(
    { target, ...options }: EventQuery = {},
  ): Promise<ReadableStream<ProcessChange>> {
    const { signal } = optionsOf("call", options);
    if (target !== undefined) checkTarget(target);
    const read = (change: ChangeJson) => processChange(change);
    return await this.#open("events", searchOf({ target }), signal, { forEver: true, read });
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
    const { allowEmpty, signal } = optionsOf("save", options);
    return (await this.#call("save", { allow_empty: allowEmpty }, { signal })).count;
  }

  /** Restores the saved processes. */
  override async resurrect(options: CallOptions = {}): Promise<Resurrected> {
    const { count, errors } = await this.#call("resurrect", {}, options);
    return { count, errors };
  }

  /** Registers a process. */
  protected override async launch(
    config: ProcessConfigInput,
    { start, wait, signal }: LaunchOptions,
  ): Promise<ProcessInfo> {
    const payload = { config: withLibraryWords(() => newConfig(config)), start, wait };
    return processInfo(await this.#call("add", payload, { signal }));
  }

  /** Starts processes that exist. */
  protected override async startAgain(
    target: string,
    { wait, signal }: StartOptions,
  ): Promise<ProcessInfo> {
    return processInfo(await this.#call("start", { target, wait }, { signal }));
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
      const fields = payload as Fields;
      if ("target" in fields) checkTarget(fields.target);
      if (name.startsWith("cron_") && "name" in fields) checkTarget(fields.name);
      const data = await this.#transport.call(name, fields, options);
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
        (options) => this.#transport.stream(what, search, options),
        { signal, ...how },
      );
    } catch (error) {
      throw inLibraryWords(error);
    }
  }
}

/** A shorter text is the whole log: the daemon sends the last 1 MiB, less a byte order mark. */
const MAX_BYTES = 1024 * 1024 - 3;

/** The payload of a verb as an object. */
type Sent<N extends VerbName> = Payload<N> extends undefined ? Record<string, never>
  : Exclude<Payload<N>, string | undefined>;
