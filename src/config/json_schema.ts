/** The JSON Schema of configuration files, made from the one schema of a process. */

import * as z from "zod";
import { SHORT_FORMS } from "../model/config_fields.ts";
import { configSchema } from "../model/config_schema.ts";
import { webhookSchema, webSchema } from "../model/settings_schema.ts";
import { KEY_DESCRIPTIONS, SETTING_DESCRIPTIONS } from "./key_descriptions.ts";

/** A JSON Schema, or a part of one. */
export type JsonSchema = { [key: string]: unknown };

/** The schema of one process: every key, the other names of `entrypoint`, and text forms of values. */
function processSchema(): JsonSchema {
  const schema = toJson(configSchema);
  const properties = { ...schema.properties as Record<string, JsonSchema> };
  properties.script = properties.binary = { type: "string", minLength: 1 };
  properties.env = withTexts(properties.env!);
  properties.args = { ...properties.args, items: { type: ["string", "number", "boolean"] } };
  // Against the file, where a process given by itself has no file to be against.
  properties.cwd = { type: "string", minLength: 1 };
  properties.health_check = withVariables(properties.health_check!, ["url", "tcp_endpoint"]);
  for (const [key, description] of Object.entries(KEY_DESCRIPTIONS)) {
    if (properties[key] !== undefined) properties[key] = { ...properties[key], description };
  }
  return { type: "object", properties, additionalProperties: false };
}

/** Numbers and booleans are taken as they are written. */
function withTexts(map: JsonSchema): JsonSchema {
  return { ...map, additionalProperties: { type: ["string", "number", "boolean"] } };
}

/** Texts in which `${VAR}` stands for what is checked once it is filled in. */
function withVariables(object: JsonSchema, keys: readonly string[]): JsonSchema {
  const texts = Object.fromEntries(keys.map((key) => [key, { type: "string", minLength: 1 }]));
  return { ...object, properties: { ...object.properties as object, ...texts } };
}

function toJson(schema: z.ZodType): JsonSchema {
  const json = z.toJSONSchema(schema, {
    io: "input",
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      const short = SHORT_FORMS.get(zodSchema);
      if (short === undefined) return;
      const full = { ...jsonSchema };
      for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
      jsonSchema.anyOf = [toJson(short), full] as never;
    },
  }) as JsonSchema;
  delete json.$schema;
  return json;
}

const NEEDS_ENTRYPOINT = {
  anyOf: ["entrypoint", "script", "binary"].map((key) => ({ required: [key] })),
};

/** The JSON Schema of a configuration file, draft 2020-12. */
export function configFileSchema(): JsonSchema {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "procsup configuration",
    $ref: "#/$defs/file",
    $defs: {
      file: fileSchema(),
      keys: processSchema(),
      process: { $ref: "#/$defs/keys", ...NEEDS_ENTRYPOINT },
      job: jobSchema(),
      jobs: { type: "array", items: { $ref: "#/$defs/job" } },
      profile: {
        type: "object",
        additionalProperties: false,
        properties: {
          defaults: { $ref: "#/$defs/keys" },
          secrets: (processSchema().properties as Record<string, JsonSchema>).secrets,
          processes: listOrMap("keys"),
          cron: { $ref: "#/$defs/jobs" },
          web: { $ref: "#/$defs/web" },
          webhooks: listOrMap("webhookKeys"),
          run: { $ref: "#/$defs/run" },
        },
      },
      ...settingSchemas(),
    },
  };
}

function fileSchema(): JsonSchema {
  const common = {
    $schema: { type: "string" },
    version: { const: 1 },
    extends: {
      description: "Files that this one is laid over.",
      anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }],
    },
    defaults: { $ref: "#/$defs/keys", description: "Values for every process." },
    secrets: { $ref: "#/$defs/keys/properties/secrets" },
    cron: { $ref: "#/$defs/jobs", description: "Jobs that run by the clock." },
    web: { $ref: "#/$defs/web" },
    run: { $ref: "#/$defs/run" },
    profiles: {
      description: "Changes that --profile or PROCSUP_PROFILE chooses.",
      type: "object",
      additionalProperties: { $ref: "#/$defs/profile" },
    },
  };
  return {
    type: "object",
    additionalProperties: false,
    properties: {
      ...common,
      processes: { description: "The processes." },
      webhooks: { description: "Who is told when a process is in trouble." },
    },
    // What a process lacks may stand in the file that is extended.
    if: { required: ["extends"] },
    then: { properties: { processes: listOrMap("keys"), webhooks: listOrMap("webhookKeys") } },
    else: { properties: { processes: listOrMap("process"), webhooks: listOrMap("webhook") } },
  };
}

/** What concerns the daemon itself. */
function settingSchemas(): JsonSchema {
  const web = toJson(webSchema);
  const { required: _, ...keys } = toJson(webhookSchema);
  return {
    web: {
      ...web,
      description: "Where the dashboard and the REST API listen.",
      properties: described(web.properties as Record<string, JsonSchema>, "web"),
    },
    webhookKeys: {
      ...keys,
      properties: described(keys.properties as Record<string, JsonSchema>, "webhooks"),
    },
    webhook: { $ref: "#/$defs/webhookKeys", required: ["url"] },
    run: {
      type: "object",
      description: "What `procsup run` makes of the file; a daemon has no use for it.",
      additionalProperties: false,
      properties: {
        critical: {
          description: "Processes whose end for good is the end of all.",
          anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }],
        },
      },
    },
  };
}

function described(properties: Record<string, JsonSchema>, setting: string): JsonSchema {
  return Object.fromEntries(
    Object.entries(properties).map(([key, schema]) => [
      key,
      { ...schema, description: SETTING_DESCRIPTIONS[`${setting}.${key}`] },
    ]),
  );
}

function listOrMap(item: string): JsonSchema {
  const $ref = `#/$defs/${item}`;
  return {
    anyOf: [
      { type: "object", additionalProperties: { $ref } },
      { type: "array", items: { $ref, required: ["name"] } },
    ],
  };
}

/** A job has the keys of a process, and its schedule beside them. */
function jobSchema(): JsonSchema {
  const keys = processSchema();
  const properties = keys.properties as Record<string, JsonSchema>;
  const [, full] = properties.cron!.anyOf as [JsonSchema, JsonSchema];
  const { cron: _, cron_restart: __, ...own } = properties;
  return {
    ...keys,
    properties: {
      ...own,
      ...full.properties as JsonSchema,
      command: { type: "string", description: "A shell line, instead of entrypoint." },
    },
    required: ["name", "schedule"],
    anyOf: ["command", "entrypoint", "script", "binary"].map((key) => ({ required: [key] })),
  };
}
