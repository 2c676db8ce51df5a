/** Requests to the daemon, signed with the key of this tab: verbs, and the other routes. */

import { IPC_PATH, REST_BASE } from "../../../../protocol/version.ts";
import { addressOf, authorizationFor, distrust, ForeignError, hasSession } from "./tab_key.ts";
import type { Mistake } from "../../../../model/errors.ts";
import type { Output, Payload, ProcessResult, VerbName } from "../../../../protocol/wire.ts";
import { compareClocks } from "./time_range.ts";

type About = { readonly [K in "field" | "process"]?: string | undefined } & {
  readonly mistakes?: readonly Mistake[];
};

/** A request that the daemon refused, or that did not reach it. */
export class ApiError extends Error {
  /** HTTP status; 0 without a response. */
  readonly status: number;
  readonly code: string;
  /** The invalid key of a configuration, if any. */
  readonly field: string | undefined;
  /** For `start_failed`: the name of the process, which exists. */
  readonly process: string | undefined;
  /** Mistakes in a configuration file. */
  readonly mistakes: readonly Mistake[];

  constructor(status: number, code: string, message: string, about: About = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.field = about.field;
    this.process = about.process;
    this.mistakes = about.mistakes ?? [];
  }
}

export interface Ask {
  readonly method?: "GET" | "POST" | "DELETE";
  readonly body?: unknown;
  /** A token to use instead of the session. */
  readonly token?: string;
  readonly signal?: AbortSignal;
}

/**
 * Carries out a verb. Throws `ApiError`, the abort reason of `signal`, or `ForeignError` if another
 * program answers.
 */
export async function call<N extends VerbName>(
  action: N,
  payload: Payload<N>,
  signal?: AbortSignal,
): Promise<Output<N>> {
  const body = { action, payload };
  const response = await sendTo(IPC_PATH, { method: "POST", body, ...signal && { signal } });
  return (await response.json()).data;
}

/** Like `call()`, for verbs on several processes. Also throws if one failed: the first failure. */
export async function callForAll<N extends VerbName>(
  ...how: Parameters<typeof call<N>>
): Promise<Output<N>> {
  const answer = await call<N>(...how);
  const { results } = Object(answer) as { readonly results?: readonly ProcessResult[] };
  const failed = results?.find(({ ok }) => !ok);
  if (failed === undefined) return answer;
  throw new ApiError(200, failed.code ?? "", `${failed.name}: ${failed.error}`);
}

/** Sends a request to a REST route without a verb: a stream, the session. Throws like `call()`. */
export async function send(path: string, ask: Ask = {}): Promise<Response> {
  return await sendTo(REST_BASE + path, ask);
}

/** Like `send()`, for the JSON of the response. */
export async function ask<T>(path: string, how: Ask = {}): Promise<T> {
  return await (await send(path, how)).json() as T;
}

async function sendTo(path: string, ask: Ask): Promise<Response> {
  const response = await request(path, ask);
  if (response.ok) return response;
  const isSigned = ask.token === undefined && hasSession();
  if (response.status !== 401 || !isSigned) throw await refusal(response);
  // The daemon may have begun to listen anew. Prove again that it is the daemon, and what time it is.
  distrust();
  const again = await request(path, ask);
  if (again.ok) return again;
  throw await refusal(again);
}

async function request(
  path: string,
  { method = "GET", body, token, signal }: Ask,
): Promise<Response> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  // Without the base path, which a proxy may remove.
  const signed = { method, path, body: text ?? "" };
  const authorization = token === undefined
    ? await authorizationFor(signed).catch(unreachable)
    : `Bearer ${token}`;
  const headers = {
    ...(text === undefined ? {} : { "content-type": "application/json" }),
    ...(authorization === undefined ? {} : { authorization }),
  };
  const askedAt = Date.now();
  const response = await fetch(addressOf(path), {
    ...{ method, signal, headers, body: text },
    credentials: "omit",
    cache: "no-store",
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    return unreachable(error);
  });
  compareClocks(response, askedAt);
  return response;
}

function unreachable(error: unknown): never {
  if (error instanceof ForeignError) throw error;
  throw new ApiError(0, "daemon_unreachable", "The daemon cannot be reached");
}

async function refusal(response: Response): Promise<ApiError> {
  const { status } = response;
  const { error, code, field, name, mistakes } = await response.json().catch(() => ({})) as Record<
    string,
    unknown
  >;
  return new ApiError(
    status,
    textIn(code) ?? "",
    textIn(error) ?? `The daemon answered with status ${status}`,
    { field: textIn(field), process: textIn(name), mistakes: mistakes as readonly Mistake[] },
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
