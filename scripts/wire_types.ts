/** Writes the wire types from the schemas of the verbs. */

import type * as z from "zod/mini";
import { globalRegistry } from "zod/mini";
import { configChange, settingChange } from "../src/protocol/verbs/config.ts";
import { cronRun, schedule } from "../src/protocol/verbs/cron.ts";
import { healthCheck, hookRun } from "../src/protocol/verbs/inspect.ts";
import { metricsPoint, metricsSeries } from "../src/protocol/verbs/metrics.ts";
import { camelCase } from "../src/model/key_table.ts";
import { VERB_ROWS, VERBS } from "../src/protocol/verbs/mod.ts";
import {
  actionResult,
  bulkResult,
  exit,
  fieldChange,
  processInfo,
  rollingResult,
} from "../src/protocol/verbs/shapes.ts";
import { namedToken, webhook, webhookAttempt, webhookTest } from "../src/protocol/verbs/web.ts";

/** Name, description and schema of each type. Nested schemas in this list are written by name. */
const NAMED: readonly (readonly [name: string, title: string, schema: z.ZodMiniType])[] = [
  ["ProcessJson", "A process.", processInfo],
  ["ExitJson", "How a run ended.", exit],
  ["ActionResult", "The result of a verb for one process.", actionResult],
  ["BulkResult", "Answer of verbs that act on processes.", bulkResult],
  [
    "RollingResultJson",
    "Answer of `rolling_reload`. It stops at the first failure, and is then `failed`.",
    rollingResult,
  ],
  ["ReconfigureResult", "Answer of `reconfigure`.", VERBS.reconfigure.output],
  ["FieldChangeJson", "A changed key, with its values if they may be shown.", fieldChange],
  ["ConfigChangeJson", "How one process changes.", configChange],
  ["SettingChangeJson", "How a setting of the daemon changes.", settingChange],
  ["ConfigReloadResult", "Answer of `config_reload`.", VERBS.config_reload.output],
  ["StartAllResult", "Answer of `start_all`.", VERBS.start_all.output],
  ["CronJson", "A schedule.", schedule],
  ["CronRunJson", "One run of a cron job, or one restart by cron.", cronRun],
  ["CronResult", "Answer of `cron_start`, `cron_stop` and `cron_run`.", VERBS.cron_run.output],
  ["HistoryJson", "Answer of `history`: the newest last.", VERBS.history.output],
  ["HookRunJson", "One run of a hook.", hookRun],
  ["HealthCheckJson", "One health check.", healthCheck],
  ["MetricsHistoryJson", "Answer of `metrics_history`.", VERBS.metrics_history.output],
  ["MetricsSeriesJson", "The history of one process or of the host.", metricsSeries],
  ["MetricsPointJson", "The figures of one step.", metricsPoint],
  ["EventsJson", "Answer of `events`: the newest last.", VERBS.events.output],
  ["LogCountsJson", "Answer of `log_counts`.", VERBS.log_counts.output],
  ["LogsJson", "Answer of `logs`.", VERBS.logs.output],
  ["WhyJson", "Answer of `why`.", VERBS.why.output],
  ["PingJson", "Answer of `ping`.", VERBS.ping.output],
  ["ResurrectJson", "Answer of `resurrect`.", VERBS.resurrect.output],
  [
    "WebJson",
    "State of the web listener. Address and URL are empty while it is stopped.",
    VERBS.web_status.output,
  ],
  ["WebLinkJson", "A link that signs in once.", VERBS.web_link.output],
  ["TokenJson", "A named token, without its secret.", namedToken],
  [
    "SystemMetricsJson",
    "Host and daemon; memory in bytes.",
    VERBS.system_metrics.output,
  ],
  ["SystemInfoJson", "Where the daemon keeps its files.", VERBS.system_info.output],
  [
    "PortsJson",
    "A process that listens on TCP ports, and on which.",
    VERBS.ports.output.def.element,
  ],
  ["WebhookJson", "A webhook, and its deliveries since the daemon started.", webhook],
  ["WebhookAttemptJson", "How one attempt to deliver went.", webhookAttempt],
  ["WebhookTestJson", "How a test went at one webhook.", webhookTest],
];

/** The content of `src/protocol/wire.ts`. */
export function wireTypes(): string {
  const named = new Map(NAMED.map(([name, title, schema]) => [schema, { name, title }]));
  return typesText(NAMED, { named, key: (key) => key });
}

/** Types of the client's answers other than processes. */
const ANSWERS = new Set([
  ...["ActionResult", "ReconfigureResult", "FieldChangeJson", "CronJson", "CronRunJson"],
  ...["CronResult", "HistoryJson", "HookRunJson", "HealthCheckJson", "MetricsHistoryJson"],
  ...["MetricsSeriesJson", "MetricsPointJson", "WhyJson", "PingJson", "SystemMetricsJson"],
  ...["SystemInfoJson", "PortsJson"],
]);

/** `src/client/answers.ts`: the same in camelCase. */
export function clientTypes(): string {
  const nameOf = (name: string) => name.replace(/Json$/, "");
  const named = new Map(NAMED.map(([name, title, schema]) => {
    const shown = name === "ProcessJson" ? "ProcessInfo" : nameOf(name);
    return [schema, { name: shown, title }];
  }));
  const rows = NAMED.filter(([name]) => ANSWERS.has(name))
    .map(([name, title, schema]) => [nameOf(name), title, schema] as const);
  const [head, ...types] = typesText(rows, { named, key: camelCase }).split("\n\n");
  return [head, 'import type { ProcessInfo } from "../model/process_info.ts";', ...types]
    .join("\n\n");
}

/** `src/client/rest_rows.ts`: the requests of the REST routes, without the schema library. */
export function clientRoutes(): string {
  const rows = VERB_ROWS.flatMap(([name, { rest, bare = "" }]) => {
    if (rest === undefined) return [];
    const requests = rest.map(({ method, path, query, defaults, fixed, body, bodyField }) => ({
      ...{ method, path, query, fixed, bodyField, hasBody: body === undefined ? undefined : true },
      ...(defaults === undefined ? {} : { own: Object.keys(defaults) }),
    }));
    return [
      `${name}: { bare: ${JSON.stringify(bare)}, requests: ${
        JSON.stringify(requests).replace(/"(\w+)":/g, "$1: ")
      } },`,
    ];
  });
  return [
    "/** How verbs are requested over REST. Written by deno task dashboard from src/protocol/verbs: change it there. */\n",
    'import type { VerbRequests } from "./transport.ts";\n',
    "/** Verbs with a route. */",
    "export const REST_ROWS: { readonly [verb: string]: VerbRequests } = {",
    ...rows,
    "};",
  ].join("\n");
}

function typesText(rows: typeof NAMED, names: Names): string {
  return [
    "/** What the verbs answer. Written by deno task dashboard from src/protocol/verbs: change it there. */\n",
    ...rows.map(([name, title, schema]) =>
      `/** ${title} */\nexport interface ${name} ${fieldsText(defOf(schema).shape!, names)}\n`
    ),
  ].join("\n");
}

/** Names of the types, and the spelling of their keys. */
interface Names {
  readonly named: ReadonlyMap<z.ZodMiniType, { readonly name: string; readonly title: string }>;
  readonly key: (key: string) => string;
}

interface Def {
  readonly type: string;
  readonly shape?: Readonly<Record<string, z.ZodMiniType>>;
  readonly element?: z.ZodMiniType;
  readonly innerType?: z.ZodMiniType;
  readonly valueType?: z.ZodMiniType;
  readonly options?: readonly z.ZodMiniType[];
  readonly entries?: Readonly<Record<string, string>>;
  readonly values?: readonly unknown[];
}

function defOf(schema: z.ZodMiniType): Def {
  return schema._zod.def as unknown as Def;
}

function fieldsText(shape: Readonly<Record<string, z.ZodMiniType>>, names: Names): string {
  const lines = Object.entries(shape).map(([key, schema]) => {
    const help = globalRegistry.get(schema)?.description ?? names.named.get(schema)?.title;
    const comment = help === undefined ? "" : `/** ${help}${/[.…]$/.test(help) ? "" : "."} */\n`;
    const isOptional = defOf(schema).type === "optional";
    return `${comment}readonly ${names.key(key)}${isOptional ? "?" : ""}: ${
      typeText(schema, names)
    };`;
  });
  return `{\n${lines.join("\n")}\n}`;
}

function typeText(schema: z.ZodMiniType, names: Names): string {
  const known = names.named.get(schema);
  if (known !== undefined) return known.name;
  const { type, shape, element, innerType, valueType, options, entries, values } = defOf(schema);
  switch (type) {
    case "object":
      return fieldsText(shape!, names);
    case "array":
      return `readonly ${bracketed(typeText(element!, names))}[]`;
    case "optional":
      return typeText(innerType!, names);
    case "nullable":
      return `${typeText(innerType!, names)} | null`;
    case "record":
      return `Readonly<Record<string, ${typeText(valueType!, names)}>>`;
    case "enum":
      return Object.values(entries!).map((value) => JSON.stringify(value)).join(" | ");
    case "literal":
      return values!.map((value) => JSON.stringify(value)).join(" | ");
    case "union":
      return options!.map((option) => typeText(option, names)).join(" | ");
    case "string":
    case "number":
    case "boolean":
    case "unknown":
      return type;
    default:
      throw new Error(`No type is written for a schema of type "${type}"`);
  }
}

function bracketed(text: string): string {
  return text.includes(" | ") ? `(${text})` : text;
}
