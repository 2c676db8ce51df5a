/** What a row of the verb registry is: everything that the surfaces need to know of a verb. */

import type * as z from "../../npm/zod.ts";

/** What a token is good for; each role includes the ones before it. */
export const ROLES = ["read", "operate", "admin"] as const;

/** One of them. */
export type Role = (typeof ROLES)[number];

/** Whether a role includes another one. */
export function includesRole(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

/** One verb of the daemon. */
export interface Verb<
  I extends z.ZodMiniType = z.ZodMiniType,
  O extends z.ZodMiniType = z.ZodMiniType,
  B extends string | undefined = string | undefined,
> {
  /** One line. */
  readonly help: string;
  /** The lowest role that may use it; `open` needs no token. */
  readonly role: Role | "open";
  /** Fields that need an admin, whatever the verb itself needs. */
  readonly adminFields?: readonly string[];
  /** What it takes: a strict object, or `nothing`. */
  readonly input: I;
  /** The field that a payload which is a bare string gives, and the last word of a REST path. */
  readonly bare?: B;
  /** What it answers. */
  readonly output: O;
  readonly rest?: readonly RestRow[];
  readonly mcp?: McpRow;
}

/** One REST route of a verb. */
export interface RestRow {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below `/api/v1`; `{id}` (a target) or `{name}` stands for the verb's bare field. */
  readonly path: string;
  /** One line, where it is not the verb's. */
  readonly help?: string;
  /** Fields that the query gives. */
  readonly query?: readonly string[];
  /** Where a field of the query has another default over REST; `own` asks for the verb's own. */
  readonly defaults?: Readonly<Record<string, string>>;
  /** Name of the body's schema in the OpenAPI document. Without it there is no body. */
  readonly body?: string;
  /** The one field that is the body; without it the body gives every field that is left. */
  readonly bodyField?: string;
  /** Fields that the route itself gives. */
  readonly fixed?: Readonly<Record<string, unknown>>;
  /** Name of the answer's schema in the OpenAPI document. */
  readonly answers: string;
  /** How the answer differs from what the verb answers, and its schema. */
  readonly answer?: { readonly schema: z.ZodMiniType; readonly of: (data: never) => unknown };
  /** Status of success; 200 without it. */
  readonly status?: 201;
}

/** Groups of MCP tools. A client is given `core` unless it asks for others. */
export const TOOLSETS = ["core", "diagnose", "deploy", "jobs"] as const;

/** The MCP tool of a verb. What it gives stands in `mcp/tools.ts`. */
export interface McpRow {
  readonly tool: string;
  /** Default: `core`. */
  readonly toolset?: (typeof TOOLSETS)[number];
  readonly title: string;
  readonly description: string;
  /** Fields of the verb; `target` stands for its bare field. */
  readonly input: z.ZodMiniObject;
  readonly destructive?: true;
  readonly idempotent?: true;
  /** It reaches things beyond procsup: it runs programs. */
  readonly openWorld?: true;
}

/** A row, checked. */
export function verb<
  I extends z.ZodMiniType,
  O extends z.ZodMiniType,
  const B extends string | undefined = undefined,
>(row: Verb<I, O, B>): Verb<I, O, B> {
  return row;
}
