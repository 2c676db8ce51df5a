/** The verbs of a running daemon, typed. */

import type { ProcessConfigInput } from "../model/config_input.ts";
import type { SignalName } from "../model/signal.ts";
import { inWorkingDirectory } from "../platform/paths.ts";
import type { Output, Payload, VerbName } from "../protocol/verbs/types.ts";
import type {
  ActionResult,
  CronJson,
  CronResult,
  HistoryJson,
  LogsJson,
  MetricsHistoryJson,
  PingJson,
  PortsJson,
  ProcessJson,
  ReconfigureResult,
  ResurrectJson,
  SystemInfoJson,
  SystemMetricsJson,
  WhyJson,
} from "../protocol/wire.ts";
import { throwFailed } from "../protocol/failed_result.ts";
import type { ChangeJson } from "../protocol/change_json.ts";
import {
  checkTarget,
  durationText,
  filterKeys,
  rollingKeys,
  searchOf,
  wireConfig,
} from "./wire_input.ts";
import { openItems } from "./items.ts";
import type {
  ClientOptions,
  ConfigChanges,
  EventQuery,
  LogQuery,
  MetricsQuery,
  ReconfigureOptions,
  RollingOptions,
  SaveOptions,
  StartOptions,
  StopOptions,
  StreamQuery,
  WaitOptions,
} from "./options.ts";
import type { LogLine } from "../model/log_line.ts";
import { SocketTransport } from "./socket_transport.ts";
import type { CallOptions, Fields, Transport } from "./transport.ts";
import { UrlTransport } from "./url_transport.ts";

/**
 * A client of one daemon; holds nothing open between calls. A target is what the command line takes:
 * a name, an id, `all`, `tag:web`, … Every method throws `ProcsupError`: `daemon_unreachable` when
 * none answers, `closed` when it goes away meanwhile, `forbidden` when Deno was not given the
 * permission, else what the daemon said. A verb on several processes does what it can for all and
 * throws what went wrong with the first that failed; a start that failed is a `StartFailedError`.
 */
export class Client {
  readonly #transport: Transport;

  /**
   * A client of the daemon of this user, of another home, or of a URL. Nothing is sent yet. Throws
   * `forbidden` where Deno does not let it look for the home, `bad_request` for a home, a URL or a
   * token that cannot be one.
   */
  constructor(options: ClientOptions = {}) {
    this.#transport = "url" in options
      ? new UrlTransport(options.url, options.token)
      : new SocketTransport(options.home);
  }

  /** The daemon's version. Needs no token. */
  async ping(options: CallOptions = {}): Promise<PingJson> {
    return await this.#call("ping", {}, options);
  }

  /** Every process. */
  async list(options: CallOptions = {}): Promise<readonly ProcessJson[]> {
    return await this.#call("list", {}, options);
  }

  /** One process. */
  async inspect(target: string, options: CallOptions = {}): Promise<ProcessJson> {
    return await this.#call("status", { target }, options);
  }

  /** Starts a new process. A relative or missing `cwd` is against the current directory. */
  async start(
    config: ProcessConfigInput,
    { wait, ...options }: StartOptions = {},
  ): Promise<ProcessJson> {
    const payload = { config: inWorkingDirectory(wireConfig(config)), wait };
    return await this.#call("add", payload, options);
  }

  /** Starts processes that are there; the first of them is given. */
  async startAgain(
    target: string,
    { wait, ...options }: StartOptions = {},
  ): Promise<ProcessJson> {
    return await this.#call("start", { target, wait }, options);
  }

  /** Ends processes and all they started. */
  async stop(target: string, { force, timeout, ...options }: StopOptions = {}): Promise<void> {
    const payload = { target, force, timeout: durationText(timeout) };
    await this.#call("stop", payload, options);
  }

  /** Stops and starts. */
  async restart(target: string, { wait, ...options }: StartOptions = {}): Promise<void> {
    await this.#call("restart", { target, wait }, options);
  }

  /** Reloads gracefully. */
  async reload(target: string, { wait, ...options }: StartOptions = {}): Promise<void> {
    await this.#call("reload", { target, wait }, options);
  }

  /** Reloads the instances of a process a batch at a time, and goes on no further when one fails. */
  async rollingReload(target: string, options: RollingOptions = {}): Promise<void> {
    const { signal, ...rolling } = options;
    const payload = { target, ...rollingKeys(rolling) };
    await this.#call("rolling_reload", payload, optional(signal));
  }

  /**
   * Changes the configuration of a process and all its instances. What runs is replaced, a batch at a
   * time, only where a key that changed asks for it.
   */
  async reconfigure(
    target: string,
    config: ConfigChanges,
    { replace = false, signal, ...rolling }: ReconfigureOptions = {},
  ): Promise<ReconfigureResult> {
    const payload = { target, replace, config: wireConfig(config), ...rollingKeys(rolling) };
    return await this.#call("reconfigure", payload, optional(signal));
  }

  /**
   * Changes how many instances of a process there are: `4`, `"+2"` or `"-1"`. Returns those that came
   * and went.
   */
  async scale(
    name: string,
    instances: number | string,
    options: CallOptions = {},
  ): Promise<readonly ActionResult[]> {
    return (await this.#call("scale", { target: name, instances }, options)).results;
  }

  /** Sends a signal to the apps themselves, by name or number. */
  async signal(
    target: string,
    signal: SignalName | number,
    options: CallOptions = {},
  ): Promise<void> {
    await this.#call("signal", { target, signal }, options);
  }

  /** Writes a text to the standard input of apps with `stdin` or `tty`. */
  async send(target: string, text: string, options: CallOptions = {}): Promise<void> {
    await this.#call("send", { target, text }, options);
  }

  /** Empties logs and removes their archives. */
  async flush(target: string, options: CallOptions = {}): Promise<void> {
    await this.#call("flush", { target }, options);
  }

  /** Stops processes and forgets them. */
  async remove(target: string, options: CallOptions = {}): Promise<void> {
    await this.#call("delete", { target }, options);
  }

  /**
   * Resolves when each process has come to a point in its life, or at once if it is there. Throws `timeout`,
   * and `wrong_state` when one is deleted meanwhile.
   */
  async wait(
    target: string,
    { for: point, timeout, ...options }: WaitOptions = {},
  ): Promise<readonly ProcessJson[]> {
    const payload = { target, for: point, timeout: durationText(timeout) };
    return await this.#call("wait", payload, options);
  }

  /** Why a process is in the state it is in, in words. */
  async why(target: string, options: CallOptions = {}): Promise<WhyJson> {
    return await this.#call("why", { target }, options);
  }

  /** What the hooks and health checks of a process did last. */
  async history(target: string, options: CallOptions = {}): Promise<HistoryJson> {
    return await this.#call("history", { target }, options);
  }

  /**
   * What processes used over time, deleted ones by name included; without a target the host. Times are as
   * the command line has them: `3h` ago, or ISO 8601.
   */
  async metricsHistory(
    target?: string,
    { signal, ...range }: MetricsQuery = {},
  ): Promise<MetricsHistoryJson> {
    return await this.#call("metrics_history", { target, ...range }, optional(signal));
  }

  /** The last lines of one log, 1 MiB at most. */
  async logs(target: string, { signal, ...query }: LogQuery = {}): Promise<LogsJson> {
    const payload = { target, ...query, ...filterKeys(query) };
    return await this.#call("logs", payload, optional(signal));
  }

  /** Lines of logs as they come, of several processes in the order of their time. */
  async streamLogs(
    target: string,
    { signal, newOnly, only, follow = false, ...query }: StreamQuery = {},
  ): Promise<ReadableStream<LogLine>> {
    checkTarget(target);
    const search = searchOf({
      ...{ target, follow, new: newOnly, ...query, ...filterKeys(query) },
      ...(only === undefined ? {} : { [only]: true }),
    });
    return await openItems<LogLine>(
      (options) => this.#transport.stream("logs", search, options),
      { ...optional(signal), forEver: follow },
    );
  }

  /** News of processes from now on. */
  async events({ target, signal }: EventQuery = {}): Promise<ReadableStream<ChangeJson>> {
    if (target !== undefined) checkTarget(target);
    return await openItems<ChangeJson>(
      (options) => this.#transport.stream("events", searchOf({ target }), options),
      { ...optional(signal), forEver: true },
    );
  }

  /** What runs by the clock, or those of a target, with the filterKeys that come next. */
  async cronList(target?: string, options: CallOptions = {}): Promise<readonly CronJson[]> {
    const payload = target === undefined ? {} : { name: target };
    return await this.#call("cron_list", payload, options);
  }

  /** Runs a job now; resolves when it has begun. */
  async cronRun(target: string, options: CallOptions = {}): Promise<CronResult> {
    return await this.#call("cron_run", { name: target }, options);
  }

  /** Switches schedules on. */
  async cronStart(target: string, options: CallOptions = {}): Promise<CronResult> {
    return await this.#call("cron_start", { name: target }, options);
  }

  /** Switches schedules off; what runs goes on. */
  async cronStop(target: string, options: CallOptions = {}): Promise<CronResult> {
    return await this.#call("cron_stop", { name: target }, options);
  }

  /** The machine and the daemon in figures. */
  async systemMetrics(options: CallOptions = {}): Promise<SystemMetricsJson> {
    return await this.#call("system_metrics", {}, options);
  }

  /** Where the daemon keeps its files, and how much room is left there. */
  async systemInfo(options: CallOptions = {}): Promise<SystemInfoJson> {
    return await this.#call("system_info", {}, options);
  }

  /** Which processes listen on which TCP ports. */
  async ports(options: CallOptions = {}): Promise<readonly PortsJson[]> {
    return await this.#call("ports", {}, options);
  }

  /** Saves the list of processes; returns how many. Throws `wrong_state` rather than save none. */
  async save({ allowEmpty, ...options }: SaveOptions = {}): Promise<number> {
    return (await this.#call("save", { allow_empty: allowEmpty }, options)).count;
  }

  /** Brings back what was saved. */
  async resurrect(options: CallOptions = {}): Promise<ResurrectJson> {
    return await this.#call("resurrect", {}, options);
  }

  async #call<N extends VerbName>(
    name: N,
    payload: Sent<N>,
    options: CallOptions,
  ): Promise<Output<N>> {
    const fields = payload as Fields;
    if ("target" in fields) checkTarget(fields.target);
    if (name.startsWith("cron_") && "name" in fields) checkTarget(fields.name);
    const data = await this.#transport.call(name, fields, options);
    throwFailed(data);
    return data;
  }
}

/** What a verb is given here: its fields. */
type Sent<N extends VerbName> = Payload<N> extends undefined ? Record<string, never>
  : Exclude<Payload<N>, string | undefined>;

function optional(signal: AbortSignal | undefined): CallOptions {
  return signal === undefined ? {} : { signal };
}
