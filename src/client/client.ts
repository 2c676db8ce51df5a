/** The verbs of a running daemon, typed. */

import { inputKeys } from "../model/config_keys.ts";
import type { DurationInput } from "../model/duration.ts";
import type { ProcessConfigInput } from "../model/process_config.ts";
import { notPermitted } from "../platform/permissions.ts";
import { absolute, defaultHome } from "../platform/paths.ts";
import type { LogsJson, PingJson, ResurrectJson } from "../protocol/actions.ts";
import type { ChangeJson } from "../protocol/change_json.ts";
import { ndjson } from "../protocol/ndjson.ts";
import type { ProcessJson } from "../protocol/process_json.ts";
import { SocketTransport } from "./socket_transport.ts";
import type { CallOptions, Transport } from "./transport.ts";
import { UrlTransport } from "./url_transport.ts";

/** A daemon on this machine. */
export interface SocketOptions {
  /** Its home; default `$PROCSUP_HOME`, else `~/.procsup`. */
  readonly home?: string;
}

/** A daemon by its web listener. */
export interface UrlOptions {
  /** Such as `http://127.0.0.1:9615`. */
  readonly url: string;
  /** As `procsup token` prints it. */
  readonly token: string;
}

/** Which daemon. */
export type ClientOptions = SocketOptions | UrlOptions;

/** How a start is meant. */
export interface StartOptions extends CallOptions {
  /** Resolve only when it is ready, or has stayed up for its `minUptime`; default: at the spawn. */
  readonly wait?: boolean;
}

/** How a stop is meant. */
export interface StopOptions extends CallOptions {
  /** SIGKILL at once. */
  readonly force?: boolean;
  /** Grace before SIGKILL: a Go duration (`"5s"`), or nanoseconds over the socket. */
  readonly timeout?: DurationInput;
}

/** Which lines of a log. */
export interface LogQuery extends CallOptions {
  /** How many of the last lines, 0 for all that fits; default 50. */
  readonly lines?: number;
  /** Standard error instead of standard output. */
  readonly stderr?: boolean;
  /** Lines from then on: a time, or how long ago (`"10m"`). */
  readonly since?: string;
  /** Lines that match a regular expression. */
  readonly grep?: string;
}

/** Which lines of logs, as a stream. */
export interface StreamQuery extends CallOptions {
  /** How many of the last lines to begin with; default 50. */
  readonly lines?: number;
  /** Go on with what is written from now on. */
  readonly follow?: boolean;
}

/** One line of a log. */
export interface LogLine {
  /** Who wrote it. */
  readonly name: string;
  /** Where. */
  readonly stream: "stdout" | "stderr";
  /** Without its end. */
  readonly line: string;
  /** When, ISO 8601. */
  readonly at: string;
}

/**
 * A client of one daemon; holds nothing open between calls. A target is what the command line takes:
 * a name, an id, `all`, `tag:web`, … Every method throws `ProcsupError`: `daemon_unreachable` when
 * none answers, `forbidden` when Deno was not given the permission, else what the daemon said.
 */
export class Client {
  readonly #transport: Transport;

  /**
   * A client of the daemon of this user, of another home, or of a URL. Nothing is sent yet. Throws
   * `forbidden` where Deno does not let it look for the home.
   */
  constructor(options: ClientOptions = {}) {
    this.#transport = "url" in options
      ? new UrlTransport(options.url, options.token)
      : new SocketTransport(homeOf(options));
  }

  /** The daemon's version. Needs no token. */
  async ping(options: CallOptions = {}): Promise<PingJson> {
    return await this.#transport.call("ping", undefined, options);
  }

  /** Every process. */
  async list(options: CallOptions = {}): Promise<readonly ProcessJson[]> {
    return await this.#transport.call("list", undefined, options);
  }

  /** One process. */
  async inspect(target: string, options: CallOptions = {}): Promise<ProcessJson> {
    return await this.#transport.call("status", { target }, options);
  }

  /** Starts a new process. A missing `cwd` is the current directory. */
  async start(
    config: ProcessConfigInput,
    { wait, ...options }: StartOptions = {},
  ): Promise<ProcessJson> {
    const payload = { cwd: Deno.cwd(), ...inputKeys(config), ...given({ wait }) };
    return await this.#transport.call("start", payload, options);
  }

  /** Starts processes that are there; the first of them is given. */
  async startAgain(
    target: string,
    { wait, ...options }: StartOptions = {},
  ): Promise<ProcessJson> {
    return await this.#transport.call("start", { target, ...given({ wait }) }, options);
  }

  /** Ends processes and all they started. */
  async stop(target: string, { force, timeout, ...options }: StopOptions = {}): Promise<void> {
    await this.#transport.call("stop", { target, ...given({ force, timeout }) }, options);
  }

  /** Stops and starts. */
  async restart(target: string, { wait, ...options }: StartOptions = {}): Promise<void> {
    await this.#transport.call("restart", { target, ...given({ wait }) }, options);
  }

  /** Reloads gracefully. */
  async reload(target: string, { wait, ...options }: StartOptions = {}): Promise<void> {
    await this.#transport.call("reload", { target, ...given({ wait }) }, options);
  }

  /** Stops processes and forgets them. */
  async remove(target: string, options: CallOptions = {}): Promise<void> {
    await this.#transport.call("delete", { target }, options);
  }

  /** The last lines of one log. */
  async logs(target: string, { signal, ...query }: LogQuery = {}): Promise<LogsJson> {
    return await this.#transport.call("logs", { target, ...given(query) }, given({ signal }));
  }

  /** Lines of logs as they come, of several processes in the order of their time. */
  async streamLogs(
    target: string,
    { signal, ...query }: StreamQuery = {},
  ): Promise<AsyncIterable<LogLine>> {
    const texts = Object.entries(given(query)).map(([key, value]) => [key, String(value)]);
    const search = new URLSearchParams([["target", target], ...texts as [string, string][]]);
    return lines(await this.#transport.stream("logs", search, given({ signal })));
  }

  /** News of processes from now on; ends without an error when the signal aborts. */
  async events(
    { target, signal }: CallOptions & { readonly target?: string } = {},
  ): Promise<AsyncIterable<ChangeJson>> {
    const search = new URLSearchParams(target === undefined ? {} : { target });
    return lines(await this.#transport.stream("events", search, given({ signal })));
  }

  /** Saves the list of processes; returns how many. */
  async save(options: CallOptions = {}): Promise<number> {
    return (await this.#transport.call("save", undefined, options)).count;
  }

  /** Brings back what was saved. */
  async resurrect(options: CallOptions = {}): Promise<ResurrectJson> {
    return await this.#transport.call("resurrect", undefined, options);
  }
}

async function* lines<T>(stream: ReadableStream<Uint8Array>): AsyncGenerator<T> {
  try {
    for await (const { value } of ndjson<T>(stream, false)) yield value;
  } finally {
    // The reader may have had enough before the end.
    await stream.cancel().catch(() => {});
  }
}

function homeOf({ home }: SocketOptions): string {
  try {
    return home === undefined ? defaultHome() : absolute(home);
  } catch (error) {
    throw notPermitted(error, "find the daemon") ?? error;
  }
}

/** What is not undefined. */
function given<T extends object>(values: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined),
  ) as { [K in keyof T]?: NonNullable<T[K]> };
}
