/** Requests to the daemon over REST, and the secret that they carry. */

import { REST_BASE, SECRET_HEADER } from "../../../../protocol/version.ts";
import { compareClocks } from "./time_range.ts";

type About = { readonly [K in "field" | "process"]?: string | undefined };

/** A request that the daemon refused, or that did not reach it. */
export class ApiError extends Error {
  /** HTTP status; 0 without a response. */
  readonly status: number;
  readonly code: string;
  /** The invalid key of a configuration, if any. */
  readonly field: string | undefined;
  /** For `start_failed`: the name of the process, which exists. */
  readonly process: string | undefined;

  constructor(status: number, code: string, message: string, about: About = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.field = about.field;
    this.process = about.process;
  }
}

export interface Ask {
  readonly method?: "GET" | "POST" | "PATCH" | "DELETE";
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  readonly body?: unknown;
  /** A token to use instead of the cookie. */
  readonly token?: string;
  readonly signal?: AbortSignal;
}

/** Sends a request. Throws `ApiError`, or the abort reason of `signal`. */
export async function send(path: string, ask: Ask = {}): Promise<Response> {
  const { method = "GET", query, body, token, signal } = ask;
  const secret = secretOfTab();
  const headers = {
    ...(body === undefined ? {} : { "content-type": "application/json" }),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(secret === undefined ? {} : { [SECRET_HEADER]: secret }),
  };
  const askedAt = Date.now();
  const response = await fetch(`${REST_BASE}${path}${queryText(query)}`, {
    method,
    credentials: "same-origin",
    cache: "no-store",
    signal,
    headers,
    body: JSON.stringify(body),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new ApiError(0, "daemon_unreachable", "The daemon cannot be reached");
  });
  compareClocks(response, askedAt);
  if (response.ok) return response;
  throw await refusal(response);
}

/** Sends a request and returns the JSON of the response. Throws like `send()`. */
export async function ask<T>(path: string, how: Ask = {}): Promise<T> {
  return await (await send(path, how)).json() as T;
}

/** Like `ask()`, for verbs on several processes. Also throws if one failed: the first failure. */
export async function askForAll<T>(path: string, how: Ask): Promise<T> {
  const answer = await ask<T & { readonly results?: readonly Result[] }>(path, how);
  const failed = answer.results?.find(({ ok }) => !ok);
  if (failed === undefined) return answer;
  throw new ApiError(200, failed.code ?? "", `${failed.name}: ${failed.error}`);
}

interface Result {
  readonly name: string;
  readonly ok: boolean;
  readonly error?: string;
  readonly code?: string;
}

export function processPath(name: string, verb = ""): string {
  return `/processes/${encodeURIComponent(name)}${verb === "" ? "" : `/${verb}`}`;
}

async function refusal(response: Response): Promise<ApiError> {
  const { status } = response;
  const { error, code, field, name } = await response.json().catch(() => ({})) as Record<
    string,
    unknown
  >;
  return new ApiError(
    status,
    textIn(code) ?? "",
    textIn(error) ?? `The daemon answered with status ${status}`,
    { field: textIn(field), process: textIn(name) },
  );
}

/** The last item of a stream that the daemon ends for a reason. */
type Failure = { readonly error?: unknown; readonly code?: unknown };

export function endOfStream({ error, code }: Failure): ApiError {
  return new ApiError(400, String(code), String(error));
}

function textIn(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function queryText(query: Ask["query"]): string {
  const entries = Object.entries(query ?? {}).map(([key, value]) => [key, String(value)]);
  return entries.length === 0 ? "" : `?${new URLSearchParams(entries)}`;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Yields the values of a body, one batch for each received chunk. Throws if the connection breaks, or
 * `ApiError` if the last value tells what ended the stream.
 */
export async function* jsonLines<T>(response: Response): AsyncGenerator<T[]> {
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
      rest = lines.pop()!;
      const values = lines.filter((line) => line !== "").map((line) => JSON.parse(line) as T);
      const failure = values.at(-1) as Failure | undefined;
      if (failure?.error !== undefined) values.pop();
      if (values.length > 0) yield values;
      if (failure?.error !== undefined) throw endOfStream(failure);
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/**
 * The secret of the session. Browsers send the cookie to every port of this host, even to other
 * programs. The secret is shared only by the tabs of this origin, and ends with the last one.
 */
const SECRET = "procsup.session";
/** How long other tabs may take to answer. */
const TABS_MS = 300;

/** Messages between tabs: a tab needs the secret, or sends it. `isNew`: it has just signed in. */
type Message = "wanted" | { readonly secret: string; readonly isNew: boolean };

const tabs = new BroadcastChannel(SECRET);
let asking: ((secret: string) => void) | undefined;

tabs.addEventListener("message", ({ data }: MessageEvent<Message>) => {
  if (data === "wanted") tell(false);
  else if (data.isNew) sessionStorage.setItem(SECRET, data.secret);
  else asking?.(data.secret);
});

export function secretOfTab(): string | undefined {
  return sessionStorage.getItem(SECRET) ?? undefined;
}

/** Keeps the secret of a new session, here and in all other tabs. */
export function keepSecret(secret: string): void {
  sessionStorage.setItem(SECRET, secret);
  tell(true);
}

/** Replaces an invalid secret with that of another tab. Resolves to false if there is none. */
export function askOtherTabs(): Promise<boolean> {
  const bad = secretOfTab();
  sessionStorage.removeItem(SECRET);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  asking = (secret) => {
    if (secret === bad) return;
    sessionStorage.setItem(SECRET, secret);
    resolve(true);
  };
  setTimeout(() => resolve(false), TABS_MS);
  tabs.postMessage("wanted" satisfies Message);
  return promise.finally(() => asking = undefined);
}

function tell(isNew: boolean): void {
  const secret = secretOfTab();
  if (secret !== undefined) tabs.postMessage({ secret, isNew } satisfies Message);
}
