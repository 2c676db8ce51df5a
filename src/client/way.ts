/** How a program reaches a daemon: by its home, or by the URL of its web listener. */

import { messageOf, ProcsupError, quote } from "../model/errors.ts";
import { absolute, defaultHome } from "../platform/files/paths.ts";
import { notPermitted } from "../platform/users/permissions.ts";
import type { DaemonRequest, Way } from "../protocol/daemon_client.ts";
import { errorOf } from "../protocol/envelope.ts";
import { endedBy } from "../protocol/shutdown_notice.ts";
import type { UnixResponse } from "../protocol/unix_http.ts";
import { IPC_PATH, PEER_HEADER, REST_BASE } from "../protocol/version.ts";

/** The home of a daemon. Throws `bad_request`, or `forbidden` if the permission to find it is missing. */
export function homeOf(home: unknown): string {
  // An empty path would be the working directory.
  if (home !== undefined && (typeof home !== "string" || home === "")) {
    throw new ProcsupError(
      "bad_request",
      `Invalid "home" ${quote(home)}: expected the path of a directory`,
    );
  }
  try {
    return home === undefined ? defaultHome() : absolute(home);
  } catch (error) {
    throw notPermitted(error, "find the daemon") ?? error;
  }
}

/** Reaches a web listener: its `/ipc` takes the same envelopes as that of the Unix socket. */
export class UrlWay implements Way {
  readonly #base: string;
  readonly #authorization: string;

  /** Throws `bad_request` for an invalid URL or token. */
  constructor(url: string, token: string) {
    this.#base = baseOf(url);
    this.#authorization = bearer(token);
  }

  async send(
    { method, path, body, signal }: DaemonRequest,
    isPing: boolean,
  ): Promise<UnixResponse> {
    const response = await this.#fetch(path === IPC_PATH ? path : `${REST_BASE}${path}`, {
      ...{ method, body: body ?? null, signal: signal ?? null },
      // Following a redirect may change the method and drops the token.
      redirect: "manual",
      headers: {
        ...(isPing ? {} : { authorization: this.#authorization }),
        accept: "application/x-ndjson, application/json",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
    });
    const peer = response.headers.get(PEER_HEADER) ?? undefined;
    if (peer === undefined) throw await this.#foreign(response, signal);
    return {
      ...{ status: response.status, peer },
      text: () => response.text(),
      // `fetch` loses its signal once the response object is garbage collected: its body would stay
      // open for ever.
      stream: () =>
        endedBy(response.body!, (end) => {
          const over = () => end();
          signal?.addEventListener("abort", over);
          return () => signal?.removeEventListener("abort", over);
        }),
      close: () => void response.body?.cancel(),
    };
  }

  async #fetch(path: string, init: RequestInit): Promise<Response> {
    const url = `${this.#base}${path}`;
    try {
      return await fetch(url, init);
    } catch (cause) {
      init.signal?.throwIfAborted();
      const forbidden = notPermitted(cause, "talk to the daemon");
      if (forbidden !== undefined) throw forbidden;
      throw new ProcsupError("daemon_unreachable", `Cannot reach "${url}": ${messageOf(cause)}`, {
        cause,
      });
    }
  }

  /**
   * The error for an answer of another server, or of a proxy whose daemon is down. The daemon itself
   * answers like this if it does not know the host that the URL names.
   */
  async #foreign(response: Response, signal: AbortSignal | undefined): Promise<ProcsupError> {
    const { status, headers } = response;
    const text = await response.text().catch(() => "");
    signal?.throwIfAborted();
    try {
      const answer = JSON.parse(text);
      if (typeof answer.error === "string" && typeof answer.code === "string") {
        return errorOf(answer);
      }
    } catch {
      // Not an answer of procsup.
    }
    const to = headers.get("location");
    const type = headers.get("content-type")?.split(";")[0] ?? "nothing";
    return to === null
      ? new ProcsupError(
        "daemon_unreachable",
        `No daemon answers at "${this.#base}": HTTP ${status} with ${type}`,
      )
      : new ProcsupError("daemon_unreachable", `"${this.#base}" redirects: HTTP ${status}`, {
        hint: `Use the URL that it redirects to: "${to}"`,
      });
  }
}

/** The URL of a web listener without its last slash. Throws `bad_request` for an invalid URL. */
export function baseOf(url: unknown): string {
  const parsed = typeof url === "string" ? URL.parse(url) : null;
  const isHttp = parsed?.protocol === "http:" || parsed?.protocol === "https:";
  if (parsed === null || !isHttp) {
    throw new ProcsupError(
      "bad_request",
      `Invalid "url" ${quote(url)}: expected one such as "http://127.0.0.1:9615"`,
    );
  }
  const { origin, pathname, username, password, search, hash } = parsed;
  // Do not quote the URL: it may contain a secret.
  const extra = username || password ? "a user" : search ? "a query" : hash ? "a fragment" : "";
  if (extra !== "") throw new ProcsupError("bad_request", `Invalid "url": it holds ${extra}`);
  return `${origin}${pathname.replace(/(?<!\/)\/+$/, "")}`;
}

/** The `Authorization` header for a token. Throws `bad_request` without quoting an invalid one. */
function bearer(token: unknown): string {
  if (typeof token === "string" && /^[\x21-\x7e]+$/.test(token)) return `Bearer ${token}`;
  throw new ProcsupError(
    "bad_request",
    'Invalid "token": expected one word, as "procsup token" prints it',
  );
}
