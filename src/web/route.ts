/** What a row of the route table is. */

import type { BulkResult } from "../protocol/actions.ts";
import type { Parameters } from "./parameters.ts";

/** A request as a row sees it. */
export interface RouteRequest {
  /** The `{id}` or `{name}` of the path. */
  readonly target: string;
  /** Its parameters, defaults filled in. */
  readonly query: Readonly<Record<string, unknown>>;
  /** The JSON body, an object; empty when there was none. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** One row: a path, the verb behind it, and the way there and back. */
export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below `/api/v1`; `{id}` is a target, `{name}` the name of something that is no process. */
  readonly path: string;
  readonly action: string;
  readonly summary: string;
  /** The action that the roles are looked up for, where it is not `action`. */
  readonly roleOf?: string;
  readonly parameters?: Parameters;
  /** Name of the body's schema in the OpenAPI document; a row without one takes no body. */
  readonly body?: string;
  /** What the verb is called with; nothing without it. */
  readonly payload?: (request: RouteRequest) => unknown;
  /** What is answered; the data of the verb without it. */
  readonly answer?: (data: unknown, request: RouteRequest) => unknown;
  /** Name of the answer's schema in the OpenAPI document. */
  readonly answers: string;
  /** Status of success; 200 without it. */
  readonly status?: 201;
}

/** The payload of verbs that take a target and nothing else. */
export function onTarget({ target }: RouteRequest): unknown {
  return { target };
}

/** `{status}` when the verb worked for all, else also how it went for each. */
export function statusOnly(data: unknown): { status: string } {
  const { status, results } = data as BulkResult;
  return results.every(({ ok }) => ok) ? { status } : { status, results } as BulkResult;
}
