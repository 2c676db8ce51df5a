/** Writes the types of the wire, from the schemas of the verbs. */

import type * as z from "zod/mini";
import { globalRegistry } from "zod/mini";
import { configChange, settingChange } from "../src/protocol/verbs/config.ts";
import { cronRun, schedule } from "../src/protocol/verbs/cron.ts";
import { healthCheck, hookRun } from "../src/protocol/verbs/inspect.ts";
import { metricsPoint, metricsSeries } from "../src/protocol/verbs/metrics.ts";
import { VERBS } from "../src/protocol/verbs/mod.ts";
import {
  actionResult,
  bulkResult,
  exit,
  fieldChange,
  processInfo,
  rollingResult,
} from "../src/protocol/verbs/shapes.ts";
import { namedToken, webhook, webhookAttempt, webhookTest } from "../src/protocol/verbs/web.ts";

/** Name, what it is, and its schema. A part of a schema that has a name is written by it. */
const NAMED: readonly (readonly [name: string, title: string, schema: z.ZodMiniType])[] = [
  ["ProcessJson", "A process.", processInfo],
  ["ExitJson", "How a run ended.", exit],
  ["ActionResult", "How a verb went for one process.", actionResult],
  ["BulkResult", "Answer of the verbs that act on processes.", bulkResult],
  [
    "RollingResultJson",
    "Answer of `rolling_reload`. It is `failed` when any of it has, and goes on no further.",
    rollingResult,
  ],
  ["ReconfigureResult", "Answer of `reconfigure`.", VERBS.reconfigure.output],
  ["FieldChangeJson", "One changed key, with its values where they may be shown.", fieldChange],
  ["ConfigChangeJson", "How one process changes.", configChange],
  ["SettingChangeJson", "How a setting of the daemon changes.", settingChange],
  ["ConfigReloadResult", "Answer of `config_reload`.", VERBS.config_reload.output],
  ["StartAllResult", "Answer of `start_all`.", VERBS.start_all.output],
  ["CronJson", "A schedule.", schedule],
  ["CronRunJson", "One run of a job, or one restart by the clock.", cronRun],
  ["CronResult", "Answer of `cron_start`, `cron_stop` and `cron_run`.", VERBS.cron_run.output],
  ["HistoryJson", "Answer of `history`: the newest last.", VERBS.history.output],
  ["HookRunJson", "One run of a hook.", hookRun],
  ["HealthCheckJson", "One health check.", healthCheck],
  ["MetricsHistoryJson", "Answer of `metrics_history`.", VERBS.metrics_history.output],
  ["MetricsSeriesJson", "The history of one process or of the host.", metricsSeries],
  ["MetricsPointJson", "The figures of one step of time.", metricsPoint],
  ["EventsJson", "Answer of `events`: the newest last.", VERBS.events.output],
  ["LogCountsJson", "Answer of `log_counts`.", VERBS.log_counts.output],
  ["LogsJson", "Answer of `logs`.", VERBS.logs.output],
  ["WhyJson", "Answer of `why`.", VERBS.why.output],
  ["PingJson", "Answer of `ping`.", VERBS.ping.output],
  ["ResurrectJson", "Answer of `resurrect`.", VERBS.resurrect.output],
  ["WebJson", "Where the web listener is; empty while it is stopped.", VERBS.web_status.output],
  ["WebLinkJson", "A link that signs in, once.", VERBS.web_link.output],
  ["TokenJson", "A named token, without its secret.", namedToken],
  [
    "SystemMetricsJson",
    "The machine and the daemon; memory in bytes.",
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

/** `src/protocol/wire.ts`. */
export function wireTypes(): string {
  const named = new Map(NAMED.map(([name, title, schema]) => [schema, { name, title }]));
  return [
    "/** What the verbs answer. Written by deno task dashboard from src/protocol/verbs: change it there. */\n",
    ...NAMED.map(([name, title, schema]) =>
      `/** ${title} */\nexport interface ${name} ${fieldsText(defOf(schema).shape!, named)}\n`
    ),
  ].join("\n");
}

type Names = ReadonlyMap<z.ZodMiniType, { readonly name: string; readonly title: string }>;

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

function fieldsText(shape: Readonly<Record<string, z.ZodMiniType>>, named: Names): string {
  const lines = Object.entries(shape).map(([key, schema]) => {
    const help = globalRegistry.get(schema)?.description ?? named.get(schema)?.title;
    const comment = help === undefined ? "" : `/** ${help}${/[.…]$/.test(help) ? "" : "."} */\n`;
    const isOptional = defOf(schema).type === "optional";
    return `${comment}readonly ${key}${isOptional ? "?" : ""}: ${typeText(schema, named)};`;
  });
  return `{\n${lines.join("\n")}\n}`;
}

function typeText(schema: z.ZodMiniType, named: Names): string {
  const known = named.get(schema);
  if (known !== undefined) return known.name;
  const { type, shape, element, innerType, valueType, options, entries, values } = defOf(schema);
  switch (type) {
    case "object":
      return fieldsText(shape!, named);
    case "array":
      return `readonly ${bracketed(typeText(element!, named))}[]`;
    case "optional":
      return typeText(innerType!, named);
    case "nullable":
      return `${typeText(innerType!, named)} | null`;
    case "record":
      return `Readonly<Record<string, ${typeText(valueType!, named)}>>`;
    case "enum":
      return Object.values(entries!).map((value) => JSON.stringify(value)).join(" | ");
    case "literal":
      return values!.map((value) => JSON.stringify(value)).join(" | ");
    case "union":
      return options!.map((option) => typeText(option, named)).join(" | ");
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
