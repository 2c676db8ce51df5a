/** Sends requests to a running daemon, over its Unix socket or another way. */

import { hasCode, messageOf, ProcsupError } from "../model/errors.ts";
import { clientSystem, isSystemError } from "../platform/client_system.ts";
import { type HomePaths, pathsIn } from "../platform/files/paths.ts";
import type { VerbMap, VerbName } from "./wire.ts";
import { errorOf, type ResponseEnvelope } from "./envelope.ts";
import { DAEMON_PATIENCE_MS, hangingDaemon, watchDaemon } from "./liveness.ts";
import { IPC_PATH, type Peer, readPeer, refuseOtherProtocol } from "./version.ts";
import { HangUp, type UnixRequest, unixRequest, type UnixResponse } from "./unix_http.ts";
import { commandHint } from "../model/hint.ts";

/** How to reach a daemon. */
export interface Way {
  /** Name of the daemon's machine, a prefix for error messages; undefined for this machine. */
  readonly machine?: string;
  /** Sends a request. Throws `ProcsupError`, or the reason of the signal. */
  send(request: DaemonRequest, isPing: boolean): Promise<UnixResponse>;
}

/** A request without the fields that the way adds. */
export type DaemonRequest = Omit<UnixRequest, "token" | "watch">;

/** A client of one daemon. Over a Unix socket it keeps no connection open between calls. */
export class DaemonClient {
  readonly #way: Way;
  readonly #meet: (peer: Peer) => void;
  readonly #hook: string | undefined;

  /**
   * `home` is a home on this machine, or a way to a daemon elsewhere. `meet` receives the daemon's
   * version on every answer and may throw; by default a different protocol is refused. `hook`
   * identifies the hook that sends the requests, see `HOOK_HEADER`.
   */
  constructor(home: string | Way, meet: (peer: Peer) => void = refuseOtherProtocol, hook?: string) {
    this.#way = typeof home === "string" ? new SocketWay(home) : home;
    this.#meet = meet;
    this.#hook = hook;
  }

  /**
   * Calls a verb, at the next daemon if one is taking over. Throws `daemon_unreachable` without a
   * daemon, `closed` if it ends before it answers, `daemon_hangs` if it does not answer for some
   * seconds, or the error of the answer. Results for each process are data rather than an error, even
   * if all failed.
   */
  async call<N extends VerbName>(
    verb: N,
    payload?: VerbMap[N]["payload"],
    options: { signal?: AbortSignal | undefined; agent?: string | undefined } = {},
  ): Promise<VerbMap[N]["data"]> {
    const response = await this.#request({
      method: "POST",
      path: IPC_PATH,
      body: JSON.stringify({ action: verb, payload }),
      ...options,
    }, verb === "ping");
    const envelope = await readEnvelope(response, options.signal);
    if (envelope.success || (envelope.data ?? null) !== null) {
      return envelope.data as VerbMap[N]["data"];
    }
    throw this.#failed(envelope);
  }

  /** Opens an endless stream: `/logs?…` or `/events?…`. */
  async stream(
    path: string,
    signal?: AbortSignal,
    payload?: unknown,
  ): Promise<ReadableStream<Uint8Array>> {
    const how = payload === undefined
      ? { method: "GET" } as const
      : { method: "POST", body: JSON.stringify(payload) } as const;
    const response = await this.#request({ ...how, path, signal });
    if (response.status === 200) return response.stream();
    throw this.#failed(await readEnvelope(response, signal));
  }

  #failed(envelope: ResponseEnvelope): ProcsupError {
    const { machine } = this.#way;
    const error = machine === undefined ? envelope.error : `On ${machine}: ${envelope.error}`;
    return errorOf({ ...envelope, error });
  }

  async #request(request: DaemonRequest, isPing = false): Promise<UnixResponse> {
    const response = await this.#way.send({ ...request, hook: this.#hook }, isPing);
    const peer = readPeer(response.peer);
    try {
      if (peer !== undefined) this.#meet(peer);
    } catch (error) {
      response.close();
      throw error;
    }
    return response;
  }
}

/** Reaches the daemon of a home on this machine over its Unix socket, with its token. */
export class SocketWay implements Way {
  readonly #paths: HomePaths;
  readonly #isPatient: boolean;

  /** With `isPatient`, requests wait while one daemon takes over from another. */
  constructor(home: string, isPatient = true) {
    this.#paths = pathsIn(home);
    this.#isPatient = isPatient;
  }

  async send(request: DaemonRequest, isPing: boolean): Promise<UnixResponse> {
    // A ping asks whether a daemon answers now.
    if (isPing || !this.#isPatient) return await this.#send(request, isPing);
    for (let last: number | undefined, isAgain = false;; isAgain = true) {
      try {
        return await this.#send(request, isPing);
      } catch (error) {
        if (!hasCode(error, "daemon_unreachable")) throw error;
        // Runtimes other than Deno cannot load this module.
        const records = await import("../platform/daemon_record.ts").catch(() => undefined);
        const patience = { ms: DAEMON_PATIENCE_MS, signal: request.signal };
        const tookOver = await records?.handoverEnds(this.#paths, patience) ?? false;
        // Once more in any case: since the attempt, one handover may have ended and another begun.
        const pid = records?.readDaemonRecord(this.#paths.home)?.pid;
        if (isAgain && !tookOver && pid === last) throw error;
        last = pid;
      }
    }
  }

  async #send(request: DaemonRequest, isPing: boolean): Promise<UnixResponse> {
    const paths = this.#paths;
    try {
      return await unixRequest(paths.socket, {
        ...request,
        token: () => isPing ? undefined : this.#token(),
        watch: (hangs) => watchDaemon({ paths, isPing, hangs }),
      });
    } catch (error) {
      if (request.signal?.aborted) throw request.signal.reason;
      if (error instanceof ProcsupError) throw error;
      if (error instanceof HangUp) {
        throw new ProcsupError("closed", "The daemon closed the connection before it answered", {
          hint: { text: "It may be partly done; see what runs", command: { verb: "list" } },
          cause: error,
        });
      }
      if (isSystemError(error, "WouldBlock")) {
        // The queue of its socket is full: many clients are waiting already.
        throw await hangingDaemon(paths.home, error);
      }
      const { notPermitted } = await import("../platform/users/permissions.ts");
      throw notPermitted(error, "talk to the daemon") ?? this.#unreachable(error);
    }
  }

  #token(): string | undefined {
    try {
      return clientSystem().readText(this.#paths.token).trim();
    } catch (error) {
      if (isSystemError(error, "NotFound")) return undefined;
      if (error instanceof Error && error.name === "NotCapable") throw error;
      throw new ProcsupError(
        "home_unusable",
        `Cannot read the token "${this.#paths.token}": ${messageOf(error).split(":")[0]}`,
        { hint: commandHint("doctor", undefined, { home: this.#paths.home }), cause: error },
      );
    }
  }

  #unreachable(cause: unknown): ProcsupError {
    const { home } = this.#paths;
    if (isSystemError(cause, "PermissionDenied")) {
      return new ProcsupError("forbidden", `Not allowed to talk to the daemon of "${home}"`, {
        hint:
          "The daemon belongs to another user: run this as that user, or use its web API with a token",
        cause,
      });
    }
    return new ProcsupError("daemon_unreachable", `No daemon answers for home "${home}"`, {
      hint: {
        text: "Start an app, or a daemon without apps",
        command: { verb: "daemon", flags: { detach: true } },
      },
      cause,
    });
  }
}

async function readEnvelope(
  response: UnixResponse,
  signal: AbortSignal | undefined,
): Promise<ResponseEnvelope> {
  try {
    return JSON.parse(await response.text());
  } catch (cause) {
    signal?.throwIfAborted();
    if (cause instanceof ProcsupError) throw cause;
    throw new ProcsupError("closed", "The daemon closed the connection before it answered", {
      cause,
    });
  }
}
