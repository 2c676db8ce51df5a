/** The JSON Schema of configuration files. */

import { type JsonSchema, tableJson } from "../model/key_json_schema.ts";
import { type ObjectType, rowsAt } from "../model/key_table.ts";
import { PROCESS_KEYS } from "../model/process_keys.ts";
import { HOST_ALERT_KEYS, WEB_KEYS, WEBHOOK_KEYS } from "../model/settings_keys.ts";

/** No key is required, because an extended file may have it. */
const KEYS = tableJson(PROCESS_KEYS, { inFile: true, partial: true });

const NEEDS_ENTRYPOINT = {
  anyOf: ["entrypoint", "script", "binary", "command"].map((key) => ({ required: [key] })),
};

/** The JSON Schema of a configuration file, draft 2020-12. */
export function configFileSchema(): JsonSchema {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "procsup configuration",
    $ref: "#/$defs/file",
    $defs: {
      file: fileSchema(),
      keys: KEYS,
      process: { $ref: "#/$defs/keys", ...NEEDS_ENTRYPOINT },
      job: jobSchema(),
      jobs: listOrMap("job"),
      profile: {
        type: "object",
        additionalProperties: false,
        properties: {
          ...SECTIONS,
          ...{ processes: listOrMap("keys"), webhooks: listOrMap("webhookKeys") },
        },
      },
      ...settingSchemas(),
    },
  };
}

/** Sections of a file, and of each of its profiles. */
const SECTIONS: JsonSchema = {
  defaults: { $ref: "#/$defs/keys", description: "Values for every process." },
  secrets: { $ref: "#/$defs/keys/properties/secrets" },
  cron: { $ref: "#/$defs/jobs", description: "Cron jobs." },
  web: { $ref: "#/$defs/web" },
  alerts: { $ref: "#/$defs/hostAlerts/properties/alerts" },
  run: { $ref: "#/$defs/run" },
};

function fileSchema(): JsonSchema {
  return {
    type: "object",
    additionalProperties: false,
    properties: {
      $schema: { type: "string" },
      version: { const: 1 },
      extends: nameOrNames("Files that this one extends."),
      ...SECTIONS,
      profiles: {
        description: "Profiles, selected with --profile or PROCSUP_PROFILE.",
        type: "object",
        additionalProperties: { $ref: "#/$defs/profile" },
      },
      processes: { description: "The processes." },
      webhooks: { description: "Webhooks." },
    },
    // For anchors, as in compose files.
    patternProperties: { "^x-": {} },
    // A file may omit required keys that are in the file it extends.
    if: { required: ["extends"] },
    then: { properties: { processes: listOrMap("keys"), webhooks: listOrMap("webhookKeys") } },
    else: { properties: { processes: listOrMap("process"), webhooks: listOrMap("webhook") } },
  };
}

/** The settings of the daemon, and those of `procsup run`. */
function settingSchemas(): JsonSchema {
  return {
    web: {
      description: "Where the dashboard and the REST API listen.",
      ...tableJson(WEB_KEYS, { inFile: true }),
    },
    hostAlerts: tableJson(HOST_ALERT_KEYS, { inFile: true }),
    webhookKeys: tableJson(WEBHOOK_KEYS, { inFile: true, partial: true }),
    webhook: { $ref: "#/$defs/webhookKeys", required: ["url"] },
    run: {
      type: "object",
      description: "Settings of `procsup run`; the daemon ignores them.",
      additionalProperties: false,
      properties: {
        critical: nameOrNames("Processes whose final exit stops everything."),
        exit_on_failure: nameOrNames("Processes whose failure stops everything."),
      },
    },
  };
}

function nameOrNames(description: string): JsonSchema {
  return { description, anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] };
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

/** The keys of a process, plus a schedule. */
function jobSchema(): JsonSchema {
  const { cron: _, cron_restart: __, ...own } = KEYS.properties as JsonSchema;
  const [cron] = rowsAt(PROCESS_KEYS, ["cron"]) as [ObjectType];
  return {
    ...KEYS,
    properties: { ...own, ...tableJson(cron.keys, { inFile: true }).properties as JsonSchema },
    oneOf: ["schedule", "every"].map((key) => ({ required: [key] })),
    ...NEEDS_ENTRYPOINT,
  };
}
