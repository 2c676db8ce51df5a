/** The rows of the verb registry: all that the surfaces need to know about a verb. */

import type * as z from "zod/mini";

/** Roles of tokens; each includes the ones before it. */
export const ROLES = ["read", "operate", "admin"] as const;

export type Role = (typeof ROLES)[number];

export function includesRole(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

/**
 * What a verb reaches. `target`, `targets` and `name`: the apps of this field, all without it.
 * `target or host`: the host without it. `apps`: it answers with a list of all apps. `figures`: it
 * counts them. `settings`: it answers with a list of settings, which may name apps. `nothing`: no
 * apps. `everything`: all apps, or the daemon itself.
 */
export type Reach =
  | "target"
  | "target or host"
  | "targets"
  | "name"
  | "apps"
  | "figures"
  | "settings"
  | "nothing"
  | "everything";

export interface Verb<
  I extends z.ZodMiniType = z.ZodMiniType,
  O extends z.ZodMiniType = z.ZodMiniType,
  B extends string | undefined = string | undefined,
> {
  readonly help: string;
  /** The lowest role that may use it; `open` needs no token. */
  readonly role: Role | "open";
  /** Narrowed for a token that is for some apps only. */
  readonly reach: Reach;
  /** Its target may be an app that was deleted. */
  readonly knowsDeleted?: true;
  /** An app's own input, sent many times a second: it is not put on record who asked. */
  readonly isOften?: true;
  /** It waits for events and reads little, so it does not take a turn as other reads do. */
  readonly waits?: true;
  /** A strict object, or `nothing`. */
  readonly input: I;
  /** The field that a bare string stands for. It is also the parameter of REST paths. */
  readonly bare?: B;
  readonly output: O;
  readonly rest?: readonly RestRow[];
  readonly mcp?: McpRow | undefined;
}

export interface RestRow {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path below `/api/v1`; `{id}` (a target) or `{name}` is the verb's bare field. */
  readonly path: string;
  /** One line; defaults to that of the verb. */
  readonly help?: string;
  /** Fields that come from the query. */
  readonly query?: readonly string[];
  /** Defaults of query fields that differ over REST; the value `own` selects the verb's own default. */
  readonly defaults?: Readonly<Record<string, string>>;
  /** Name of the body's schema in OpenAPI; without one the route has no body. */
  readonly body?: string;
  /** The field that the body is; otherwise the body has all remaining fields. */
  readonly bodyField?: string;
  /** Fields with fixed values. */
  readonly fixed?: Readonly<Record<string, unknown>>;
  /** Name of the answer's schema in OpenAPI. */
  readonly answers: string;
  /** Converts the verb's answer, with the schema of the result. */
  readonly answer?: { readonly schema: z.ZodMiniType; readonly of: (data: never) => unknown };
  /** Status of success; default 200. */
  readonly status?: 201;
}

/** Groups of MCP tools. Clients get `core` unless they ask for others. */
export const TOOLSETS = ["core", "diagnose", "deploy", "jobs"] as const;

/** The MCP tool of a verb. Its output is in `mcp/tools.ts`. */
export interface McpRow {
  readonly tool: string;
  /** Defaults to `core`. */
  readonly toolset?: (typeof TOOLSETS)[number];
  readonly title: string;
  readonly description: string;
  /** Fields of the verb; `target` is its bare field. */
  readonly input: z.ZodMiniObject;
  readonly destructive?: true;
  readonly idempotent?: true;
  /** It affects things outside of procsup, such as by running programs. */
  readonly openWorld?: true;
}

/** Returns the row; infers its types. */
export function verb<
  I extends z.ZodMiniType,
  O extends z.ZodMiniType,
  const B extends string | undefined = undefined,
>(row: Verb<I, O, B>): Verb<I, O, B> {
  return row;
}
