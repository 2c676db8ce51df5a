/** The OpenAPI 3.1 document, made from the route table and the schemas. */

import { documentSchemas } from "./openapi_schemas.ts";
import type { Parameters } from "./parameters.ts";
import type { Route } from "./route.ts";
import { BASE, routesFor } from "./routes.ts";
import { COOKIE, SECRET_HEADER } from "./sessions.ts";

type Json = Record<string, unknown>;

/** The document for a daemon that has these verbs. */
export function openApi(actions: ReadonlySet<string>, version: string): Json {
  return {
    openapi: "3.1.0",
    info: {
      title: "procsup",
      version,
      description: "The process supervisor's REST API. All but /livez and /ping take the token.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    security: [{ bearer: [] }, { cookie: [], secret: [] }],
    paths: { ...restPaths(routesFor(actions)), ...EXTRA_PATHS },
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer" },
        cookie: { type: "apiKey", in: "cookie", name: COOKIE },
        secret: {
          ...{ type: "apiKey", in: "header", name: SECRET_HEADER },
          description: "What signing in answers with; the cookie alone opens nothing",
        },
      },
      schemas: documentSchemas(),
    },
  };
}

function restPaths(routes: readonly Route[]): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    (paths[BASE + route.path] ??= {})[route.method.toLowerCase()] = operation(route);
  }
  return paths;
}

function operation(route: Route): Json {
  const words = route.path.replace(/[{}]/g, "").split(/[/_]/).filter((word) => word !== "");
  return {
    operationId: [route.method.toLowerCase(), ...words].join("_"),
    summary: route.summary,
    parameters: [
      ...(route.path.includes("{id}") ? [TARGET] : []),
      ...(route.path.includes("{name}") ? [NAME] : []),
      ...queryParameters(route.parameters ?? {}),
    ],
    ...(route.body === undefined ? {} : {
      requestBody: { required: true, content: { "application/json": { schema: ref(route.body) } } },
    }),
    responses: {
      [route.status ?? 200]: {
        description: "Done",
        ...(route.status === 201 ? { headers: LOCATION } : {}),
        content: { "application/json": { schema: ref(route.answers) } },
      },
      default: ERROR,
    },
  };
}

function queryParameters(parameters: Parameters): Json[] {
  return Object.entries(parameters).map(([name, { schema, help }]) => ({
    name,
    in: "query",
    description: help,
    schema,
  }));
}

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

const ERROR = {
  description: "Failed",
  content: { "application/json": { schema: ref("Error") } },
};

function simple(summary: string, type: string, schema: Json = { type: "string" }): Json {
  return {
    get: {
      summary,
      responses: { 200: { description: "Done", content: { [type]: { schema } } }, default: ERROR },
    },
  };
}

const EXTRA_PATHS: Json = {
  [`${BASE}/ping`]: simple("Whether the daemon answers; open to all", "application/json", {
    type: "object",
  }),
  [`${BASE}/events`]: simple("What happens to processes, a line each", "application/x-ndjson"),
  [`${BASE}/logs`]: simple("Lines of logs, a line each", "application/x-ndjson"),
  [`${BASE}/session`]: {
    ...simple("Who you are", "application/json", { type: "object" }),
    post: {
      summary: "Sign in by a token, or by the `code` of a link in the body",
      responses: { 201: { description: "Signed in" }, default: ERROR },
    },
    delete: {
      summary: "Sign out",
      responses: { 200: { description: "Done" }, default: ERROR },
    },
  },
  "/livez": simple("Whether it lives; open to all", "text/plain"),
  "/metrics": simple("Metrics for Prometheus", "text/plain"),
};
