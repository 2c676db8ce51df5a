/** The OpenAPI 3.1 document, derived from the verb registry. */

import * as z from "zod/mini";
import { tableJson } from "../model/key_json_schema.ts";
import { PROCESS_STATES } from "../model/process_info.ts";
import { PROCESS_KEYS } from "../model/process_keys.ts";
import { changeStream, logQuery, logResumption } from "../verbs/logs/rows.ts";
import { REST_ROWS, type Route } from "../verbs/mod.ts";
import { fieldsOf } from "../verbs/read_input.ts";
import { about, hint } from "../verbs/shapes.ts";
import { type RestRow, ROLES, type Verb } from "../verbs/verb.ts";
import { REST_BASE, VERSION } from "../protocol/version.ts";

type Json = Record<string, unknown>;

const texts = new Map<string, Uint8Array<ArrayBuffer>>();

/** The document as JSON in UTF-8, for a listener behind a path. Kept: it is large, and takes 10 ms. */
export function openApiText(basePath = ""): Uint8Array<ArrayBuffer> {
  const servers = [{ url: basePath || "/" }];
  const made = () => new TextEncoder().encode(JSON.stringify({ ...openApi(), servers }));
  return texts.getOrInsertComputed(basePath, made);
}

export function openApi(): Json {
  return {
    openapi: "3.1.0",
    info: {
      title: "procsup",
      version: VERSION,
      description:
        "The process supervisor's REST API. All routes except /livez and /ping need a token.",
      license: { name: "MIT", identifier: "MIT" },
    },
    security: [{ bearer: [] }],
    paths: { ...restPaths(), ...EXTRA_PATHS },
    components: {
      securitySchemes: {
        bearer: {
          ...{ type: "http", scheme: "bearer" },
          description: "A token. Tabs of the dashboard sign each request instead.",
        },
      },
      schemas: documentSchemas(),
    },
  };
}

function restPaths(): Json {
  const paths: Record<string, Json> = {};
  for (const route of REST_ROWS) {
    const { path, method } = route.row;
    (paths[REST_BASE + path] ??= {})[method.toLowerCase()] = operation(route);
  }
  return paths;
}

function operation({ verb, row }: Route): Json {
  const { method, path, help = verb.help, body, bodyField, answers, status = 200 } = row;
  const words = path.replace(/[{}]/g, "").split(/[/_]/).filter((word) => word !== "");
  return {
    operationId: [method.toLowerCase(), ...words].join("_"),
    summary: help,
    ...(verb.role === "open" ? NO_TOKEN : {}),
    parameters: [
      ...(path.includes("{id}") ? [TARGET] : []),
      ...(path.includes("{name}") ? [NAME] : []),
      ...queryParameters(verb, row),
    ],
    ...(body === undefined ? {} : {
      requestBody: {
        required: true,
        content: {
          "application/json": { schema: ref(body) },
          // The same keys.
          ...bodyField !== undefined && { "application/yaml": { schema: ref(body) } },
        },
      },
    }),
    responses: {
      [status]: {
        description: "Done",
        ...(status === 201 ? { headers: LOCATION } : {}),
        content: { "application/json": { schema: ref(answers) } },
      },
      default: ERROR,
    },
  };
}

function queryParameters(
  verb: Pick<Verb, "input">,
  { query = [], defaults = {} }: Pick<RestRow, "query" | "defaults">,
): Json[] {
  const fields = fieldsOf(verb);
  return query.map((name) => {
    const { description, anyOf, ...rest } = jsonOf(fields[name]!, "input");
    // Query parameters are text: of several types, document the string.
    const schema = (anyOf as Json[] | undefined)?.find(({ type }) => type === "string") ??
      (Array.isArray(rest.type) ? { ...rest, type: "string" } : rest);
    const own = defaults[name];
    return {
      ...{ name, in: "query", description },
      schema: own === undefined ? schema : { anyOf: [{ const: "own" }, schema], default: own },
    };
  });
}

export function documentSchemas(): Json {
  const schemas: Json = {};
  for (const { verb, row } of REST_ROWS) {
    schemas[row.answers] = jsonOf(row.answer?.schema ?? verb.output, "output");
    if (row.body === undefined || row.bodyField !== undefined) continue;
    const { [row.path.includes("{") ? verb.bare! : ""]: _, ...fields } = fieldsOf(verb);
    schemas[row.body] = jsonOf(z.strictObject(fields), "input");
  }
  return {
    ...schemas,
    Error: jsonOf(errorSchema, "output"),
    ProcessConfig: tableJson(PROCESS_KEYS),
    ProcessConfigPatch: tableJson(PROCESS_KEYS, { patch: true }),
  };
}

function jsonOf(schema: z.ZodMiniType, io: "input" | "output"): Json {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  return json;
}

const errorSchema = z.object({
  error: z.string(),
  code: z.string(),
  hint: about(z.optional(hint), "What to do next"),
  field: about(z.optional(z.string()), "The invalid configuration key, such as health_check.url"),
  near: about(z.optional(z.string()), "For process_not_found: a similar name"),
  mistakes: about(
    z.optional(z.array(z.object({
      ...{ file: z.string(), line: z.int(), column: z.int(), what: z.string() },
    }))),
    "For invalid_config: the mistakes in configuration files",
  ),
  matches: about(z.optional(z.array(z.string())), "For ambiguous_target: matching names"),
  name: about(z.optional(z.string()), "For start_failed, like the next three"),
  state: z.optional(z.enum(PROCESS_STATES)),
  error_line: z.optional(z.string()),
  last_output: z.optional(z.array(z.string())),
});

function ref(name: string): Json {
  return { $ref: `#/components/schemas/${name}` };
}

const TARGET = {
  name: "id",
  in: "path",
  required: true,
  description: "A target: id, numeric id, name, unique prefix, all, ns:…, tag:…, label:…=…",
  schema: { type: "string" },
};

const NAME = { name: "name", in: "path", required: true, schema: { type: "string" } };

const LOCATION = { Location: { description: "Path of the process", schema: { type: "string" } } };

const ERROR = { description: "Failed", content: { "application/json": { schema: ref("Error") } } };

/** A GET that answers text. */
function simple(summary: string, type: string): Json {
  const content = { [type]: { schema: { type: "string" } } };
  return { summary, responses: { 200: { description: "Done", content }, default: ERROR } };
}

function stream(summary: string, input: z.ZodMiniObject): Json {
  const schema = { type: "string" };
  const content = { "application/x-ndjson": { schema }, "text/event-stream": { schema } };
  return {
    summary,
    parameters: queryParameters({ input }, { query: Object.keys(input.shape) }),
    responses: { 200: { description: "Done", content }, default: ERROR },
  };
}

/** The `security` of a route without a token. */
const NO_TOKEN = { security: [] };

const session = z.object({
  name: about(z.string(), "Name of the token; empty for the owner's"),
  role: z.enum(ROLES),
  via: z.enum(["token", "session"]),
});

const signedIn = z.extend(session, {
  daemon: about(z.string(), "Public key of the daemon, in hex"),
});

const signIn = z.object({
  key: about(z.string(), "Public key of the tab: P-256, uncompressed, in hex"),
  code: about(z.optional(z.string()), "The code of a link, or of a session that is passed on"),
});

const proof = z.object({
  epoch: about(z.string(), "Part of what a tab signs; it changes when the daemon begins to listen"),
  time: about(z.int(), "Milliseconds since 1970"),
  proof: about(z.string(), "HMAC with the key that tab and daemon share"),
});

const pass = z.object({ for: z.enum(["reload", "tab"]) });

function jsonContent(schema: z.ZodMiniType, io: "input" | "output"): Json {
  return { content: { "application/json": { schema: jsonOf(schema, io) } } };
}

function answersOf(schema: z.ZodMiniType, status = 200): Json {
  return { [status]: { description: "Done", ...jsonContent(schema, "output") }, default: ERROR };
}

const EXTRA_PATHS: Json = {
  [`${REST_BASE}/events`]: { get: stream("Events, one per line", changeStream) },
  [`${REST_BASE}/logs`]: {
    get: stream("Lines of logs, one per line", logQuery),
    post: {
      ...stream("Lines of logs after or before the positions in the body", logQuery),
      requestBody: { required: true, ...jsonContent(logResumption, "input") },
    },
  },
  [`${REST_BASE}/session`]: {
    get: { summary: "The role and name of the token", responses: answersOf(session) },
    post: {
      summary: "Sign in with a token, or with the `code` of a link in the body",
      // The code stands for the token.
      security: [{ bearer: [] }, {}],
      requestBody: { required: true, ...jsonContent(signIn, "input") },
      responses: answersOf(signedIn, 201),
    },
    delete: {
      summary: "Sign out",
      responses: answersOf(z.object({ status: z.literal("signed_out") })),
    },
  },
  [`${REST_BASE}/session/proof`]: {
    get: {
      summary: "A proof that this is the daemon that a tab signed in to",
      ...NO_TOKEN,
      parameters: ["key", "nonce"].map((name) => (
        { name, in: "query", required: true, schema: { type: "string" } }
      )),
      responses: answersOf(proof),
    },
  },
  [`${REST_BASE}/session/pass`]: {
    post: {
      summary:
        "A one-time code by which a tab continues its session after a reload, or in another tab",
      requestBody: { required: true, ...jsonContent(pass, "input") },
      responses: answersOf(z.object({ code: z.string() }), 201),
    },
  },
  "/livez": {
    get: { ...simple("Check that the daemon lives; needs no token", "text/plain"), ...NO_TOKEN },
  },
  "/metrics": { get: simple("Metrics for Prometheus", "text/plain") },
};
