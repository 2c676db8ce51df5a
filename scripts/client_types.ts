/** Writes the types of the library's client from the registry of verbs. */

import type * as z from "zod/mini";
import { globalRegistry } from "zod/mini";
import { alert } from "../src/verbs/alerts/rows.ts";
import { cronRun, schedule } from "../src/verbs/cron/rows.ts";
import {
  healthCheck,
  hookRun,
  metricsPoint,
  metricsSeries,
  release,
} from "../src/verbs/inspect/rows.ts";
import { camelCase } from "../src/model/key_table.ts";
import { VERBS } from "../src/verbs/mod.ts";
import { fieldChange, hint, processInfo, processResult } from "../src/verbs/shapes.ts";

/** Name, description and schema of each answer. Nested schemas in this list are written by name. */
const ANSWERS: readonly (readonly [name: string, title: string, schema: z.ZodMiniType])[] = [
  ["ProcessResult", "The result of a verb for one process.", processResult],
  ["ReconfigureResult", "Answer of `reconfigure`.", VERBS.reconfigure.output],
  ["FieldChange", "A changed key, with its values if they may be shown.", fieldChange],
  ["Alert", "An alert with its state.", alert],
  ["Cron", "A schedule.", schedule],
  ["CronRun", "One run of a cron job, or one restart by cron.", cronRun],
  ["CronResult", "Answer of `cron_start`, `cron_stop` and `cron_run`.", VERBS.cron_run.output],
  ["History", "Answer of `history`: the newest last.", VERBS.history.output],
  ["HookRun", "One run of a hook.", hookRun],
  ["HealthCheck", "One health check.", healthCheck],
  ["MetricsHistory", "Answer of `metrics_history`.", VERBS.metrics_history.output],
  ["MetricsSeries", "The history of one process or of the host.", metricsSeries],
  ["MetricsPoint", "The figures of one step.", metricsPoint],
  ["Why", "Answer of `why`.", VERBS.why.output],
  ["Release", "A change of an app, under way or over.", release],
  ["Ping", "Answer of `ping`.", VERBS.ping.output],
  ["SystemMetrics", "Host and daemon; memory in bytes.", VERBS.system_metrics.output],
  ["SystemInfo", "Where the daemon keeps its files.", VERBS.system_info.output],
  ["Ports", "A process that listens on TCP ports, and on which.", VERBS.ports.output.def.element],
];

/** Names and titles of the schemas that are written by name. */
const NAMED = new Map<z.ZodMiniType, { readonly name: string; readonly title: string }>([
  [processInfo, { name: "ProcessInfo", title: "A process." }],
  [hint, { name: "Hint", title: "What to do next." }],
  ...ANSWERS.map(([name, title, schema]) => [schema, { name, title }] as const),
]);

/** `src/client/answers.ts`: what the verbs answer, in camelCase. */
export function clientTypes(): string {
  return [
    "/** What the verbs answer. Written by deno task dashboard from src/verbs: change it there. */\n",
    'import type { Hint } from "../model/hint.ts";',
    'import type { ProcessInfo } from "../model/process_info.ts";\n',
    ...ANSWERS.map(([name, title, schema]) =>
      `/** ${title} */\nexport interface ${name} ${fieldsText(defOf(schema).shape!)}\n`
    ),
  ].join("\n");
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

function fieldsText(shape: Readonly<Record<string, z.ZodMiniType>>): string {
  const lines = Object.entries(shape).map(([key, schema]) => {
    const { type, innerType } = defOf(schema);
    const { description } = globalRegistry.get(schema) ??
      (innerType && globalRegistry.get(innerType)) ?? {};
    const help = description ?? NAMED.get(schema)?.title;
    const comment = help === undefined ? "" : `/** ${help}${/[.…]$/.test(help) ? "" : "."} */\n`;
    const mark = type === "optional" ? "?" : "";
    return `${comment}readonly ${camelCase(key)}${mark}: ${typeText(schema)};`;
  });
  return `{\n${lines.join("\n")}\n}`;
}

function typeText(schema: z.ZodMiniType): string {
  const known = NAMED.get(schema);
  if (known !== undefined) return known.name;
  const { type, shape, element, innerType, valueType, options, entries, values } = defOf(schema);
  switch (type) {
    case "object":
      return fieldsText(shape!);
    case "array":
      return `readonly ${bracketed(typeText(element!))}[]`;
    case "optional":
      return typeText(innerType!);
    case "nullable":
      return `${typeText(innerType!)} | null`;
    case "record":
      return `Readonly<Record<string, ${typeText(valueType!)}>>`;
    case "enum":
      return Object.values(entries!).map((value) => JSON.stringify(value)).join(" | ");
    case "literal":
      return values!.map((value) => JSON.stringify(value)).join(" | ");
    case "union":
      return options!.map((option) => typeText(option)).join(" | ");
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
