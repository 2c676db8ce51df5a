/** The tools: their output, how they call the verb behind them, and what they leave out. */

import * as z from "zod/mini";
import { parseConfig } from "../model/config_schema.ts";
import { formatDuration } from "../model/duration.ts";
import { ProcsupError } from "../model/errors.ts";
import { wireKeys } from "../model/key_spelling.ts";
import { nameFromPath } from "../model/name.ts";
import { dirname, isAbsolute } from "@std/path";
import { statusFor } from "../protocol/envelope.ts";
import { askEachMatch, selectProcesses } from "../protocol/select_processes.ts";
import { ALERT_VERBS } from "../verbs/alerts/rows.ts";
import { CONFIG_VERBS } from "../verbs/config/rows.ts";
import { CRON_VERBS } from "../verbs/cron/rows.ts";
import { INSPECT_VERBS } from "../verbs/inspect/rows.ts";
import { fieldsOf } from "../verbs/read_input.ts";
import { bulkResult, processInfo } from "../verbs/shapes.ts";
import type {
  Input,
  MetricsHistoryJson,
  Output,
  ProcessJson,
  ProcessResult,
  VerbMap,
  VerbName,
} from "../protocol/wire.ts";
import { inTools, safeLog, UNTRUSTED_NOTICE } from "./agent_text.ts";
import { TOOL_VERBS, type ToolVerb } from "./tool_names.ts";

/** Carries out a verb. Throws `ProcsupError`. `DaemonClient.call` is one. */
export type Call = <N extends VerbName>(
  verb: N,
  payload?: VerbMap[N]["payload"],
  options?: {
    readonly signal?: AbortSignal;
    /** The name that the client gives itself. */
    readonly agent?: string | undefined;
  },
) => Promise<VerbMap[N]["data"]>;

/** What a tool uses while it runs. */
interface ToolUse {
  /** Aborted when the client disconnects or cancels the call of the tool. */
  readonly call: Call;
  /** Base of relative paths; undefined if the client's folder is unknown. */
  readonly cwd: string | undefined;
  readonly granted: ReadonlySet<string>;
}

export interface ToolAnswer {
  readonly data: Readonly<Record<string, unknown>>;
  /** True if the verb was carried out but failed for some processes. */
  readonly failed?: boolean;
}

interface ToolRun {
  readonly output: z.ZodMiniType;
  /** Receives arguments that have passed the input schema. */
  readonly run: (args: never, use: ToolUse) => Promise<ToolAnswer>;
}

export interface Tool extends ToolVerb, ToolRun {}

const processes = z.object({ processes: z.array(z.unknown()) });

/** Tools that do more than call their verb. */
const SPECIAL: { readonly [N in VerbName]?: ToolRun } = {
  logs: {
    output: z.object({
      target: z.string(),
      stream: z.enum(["stdout", "stderr"]),
      path: z.optional(z.string()),
      lines: z.string(),
      truncated: z.boolean(),
      logs: z.string(),
    }),
    run: async ({ target, ...args }: Input<"logs">, use) => {
      const found = await forEach(target, use, "logs", args);
      const [first] = found;
      const isOne = first !== undefined && found.length === 1;
      const all = found.map(({ logs, path }) => `==> ${path} <==\n${logs}`).join("\n");
      const { text, truncated } = safeLog(isOne ? first.logs : all);
      const path = isOne ? { path: first.path } : {};
      const stream = args.stderr ? "stderr" : "stdout";
      const about = { target, stream, ...path, lines: String(args.lines), truncated };
      return { data: { ...about, notice: UNTRUSTED_NOTICE, logs: text } };
    },
  },
  search_logs: {
    output: z.object({
      lines: z.optional(z.array(z.unknown())),
      patterns: z.optional(z.array(z.unknown())),
      truncated: z.boolean(),
    }),
    run: async (args: Input<"search_logs">, { call }) => ({
      data: { ...await call("search_logs", args) },
    }),
  },
  list: {
    output: processes,
    run: async ({ target, detail }: { target?: string; detail?: boolean }, { call }) => {
      const all = await call("list");
      const view: (process: ProcessJson) => unknown = detail ? withoutDefaults : briefProcess;
      const wanted = selectProcesses(all, target === undefined ? [] : [target]);
      return { data: { processes: wanted.map(view) } };
    },
  },
  status: {
    output: processes,
    run: async ({ target }: { target: string }, use) => {
      const answers = await forEach(target, use, "why");
      return {
        data: {
          processes: answers.map(({ process, hints, ...why }) => ({
            ...answers.length === 1 ? process : withoutDefaults(process),
            ...why,
            hints: hints.map((hint) => inTools(hint, use.granted)),
          })),
        },
      };
    },
  },
  releases: {
    output: z.object({ releases: INSPECT_VERBS.releases.output }),
    run: async (args: Input<"releases">, { call }) => ({
      data: { releases: await call("releases", args) },
    }),
  },
  wait: {
    output: processes,
    run: async (args: Input<"wait">, { call }) => {
      const found = await call("wait", args);
      return { data: { processes: found.map(briefProcess) } };
    },
  },
  events: {
    output: z.object({ events: z.array(z.unknown()), truncated: z.boolean() }),
    run: async (args: Input<"events">, { call }) => {
      const { events, truncated } = await call("events", args);
      return { data: { events: events.map(briefEvent), truncated } };
    },
  },
  metrics_history: {
    output: z.object({
      since: z.string(),
      until: z.string(),
      step: z.string(),
      series: z.array(z.unknown()),
    }),
    run: async (args: Input<"metrics_history">, { call }) => ({
      data: briefHistory(await call("metrics_history", args)),
    }),
  },
  alerts: {
    output: z.object({ alerts: ALERT_VERBS.alerts.output }),
    run: async (_: unknown, { call }) => ({ data: { alerts: await call("alerts") } }),
  },
  cron_list: {
    output: z.object({ jobs: CRON_VERBS.cron_list.output }),
    run: async ({ target }: { target?: string }, { call }) => {
      const jobs = await call("cron_list", target);
      const shown = target === undefined ? jobs.map((job) => ({ ...job, history: [] })) : jobs;
      return { data: { jobs: shown } };
    },
  },
  add: {
    output: z.extend(bulkResult, { process: processInfo }),
    run: async (args: NewApp, { call, cwd, granted }) => {
      const payload = { config: newConfig(args, cwd), wait: true };
      const { results, from_shell: _, ...process } = await call("add", payload);
      const { data, failed } = bulk({ status: statusFor("started", results), results }, granted);
      return { data: { process: withoutDefaults(process), ...data }, failed };
    },
  },
  reload: {
    output: z.extend(bulkResult, { rolled_back: z.optional(z.boolean()) }),
    run: async ({ target, batch_size }: Reload, { call, granted }) => {
      if (batch_size !== undefined) {
        return bulk(await call("rolling_reload", { target, batch_size }), granted);
      }
      const { status, results } = await call("reload", { target, wait: true });
      return bulk({ status: statusFor(status, results), results }, granted);
    },
  },
  config_reload: {
    output: CONFIG_VERBS.config_reload.output,
    run: async ({ file, content, plan, ...args }: ConfigArgs, { call, granted }) => {
      const source = content === undefined
        ? { config_path: file }
        : { content: { file: file ?? "", text: content } };
      const payload = { ...args, ...source, dry_run: plan, wait: true };
      return bulk(await call("config_reload", payload), granted);
    },
  },
};

interface Reload {
  readonly target: string;
  readonly batch_size?: Input<"rolling_reload">["batch_size"];
}

interface ConfigArgs extends Pick<Input<"config_reload">, "only" | "profile" | "prune"> {
  readonly file?: string;
  readonly content?: string;
  readonly plan: boolean;
}

export const TOOLS: readonly Tool[] = TOOL_VERBS.map((tool) => ({
  ...tool,
  ...SPECIAL[tool.name] ?? usual(tool),
}));

/** Calls the verb, waits if possible, and returns the answer. */
function usual({ name, verb, row }: ToolVerb): ToolRun {
  const wait = "wait" in fieldsOf(verb) ? { wait: true } : {};
  const output = verb.output as z.ZodMiniObject;
  const isBulk = "results" in output.shape;
  return {
    output,
    run: async ({ target, ...args }: Record<string, unknown>, { call, granted }) => {
      const bare = "target" in row.input.shape ? { [verb.bare!]: target } : {};
      const data = await call(name, { ...args, ...bare, ...wait } as never);
      if (verb.output === bulkResult) {
        const result = data as Output<"stop">;
        return bulk({ ...result, status: statusFor(result.status, result.results) }, granted);
      }
      return isBulk
        ? bulk(data as Bulk, granted)
        : { data: data as Bulk, failed: hasErrors(data as Bulk) };
    },
  };
}

interface Bulk extends Readonly<Record<string, unknown>> {
  readonly results: readonly ProcessResult[];
  readonly errors?: readonly string[];
}

function hasErrors({ errors = [] }: Pick<Bulk, "errors">): boolean {
  return errors.length > 0;
}

function bulk(data: Bulk, granted: ReadonlySet<string>): Required<ToolAnswer> {
  const results = data.results.map((result) =>
    result.hint === undefined
      ? result
      : { ...result, hint: { text: inTools(result.hint, granted) } }
  );
  return { data: { ...data, results }, failed: hasErrors(data) || results.some(({ ok }) => !ok) };
}

/** Events that can end a run. All others carry the exit of an earlier one. */
const ENDS: ReadonlySet<string> = new Set(["stopped", "crashed", "errored"]);

function briefEvent({ at, name, type, reason, exit }: Output<"events">["events"][number]) {
  const ended = ENDS.has(type) && exit !== null && { code: exit.code, signal: exit.signal };
  return { at, name, type, reason, ...ended };
}

interface NewApp extends Readonly<Record<string, unknown>> {
  readonly entrypoint: string;
  readonly config?: Readonly<Record<string, unknown>>;
}

/**
 * The configuration of a new app, with defaults for the name and the folder. Throws `bad_request`
 * for a key that is given twice.
 */
function newConfig(
  { config = {}, ...args }: NewApp,
  here: ToolUse["cwd"],
): Record<string, unknown> {
  const { entrypoint } = args;
  const twice = Object.keys(args).find((key) => Object.hasOwn(config, key));
  if (twice !== undefined) {
    throw new ProcsupError("bad_request", `"${twice}" is given twice: take it out of "config"`);
  }
  const folder = isAbsolute(entrypoint) ? dirname(entrypoint) : here;
  return {
    name: nameFromPath(entrypoint),
    ...(folder === undefined ? {} : { cwd: folder }),
    ...config,
    ...args,
  };
}

/** Calls a verb for one process, or for each process that a target matches. */
async function forEach<N extends "why" | "logs">(
  target: string,
  { call }: ToolUse,
  verb: N,
  args: Readonly<Record<string, unknown>> = {},
): Promise<VerbMap[N]["data"][]> {
  const ask = (target: string) => call(verb, { ...args, target } as VerbMap[N]["payload"]);
  return await askEachMatch(target, ask, () => call("list"));
}

/** Keys that are always shown. */
const ALWAYS: ReadonlySet<string> = new Set(["name", "entrypoint", "cwd"]);

/** Leaves out configuration keys that have their default values. */
function withoutDefaults(process: ProcessJson): ProcessJson {
  const config = Object.entries(process.config).filter(([key, value]) =>
    ALWAYS.has(key) || JSON.stringify(value) !== defaults().get(key)
  );
  return { ...process, config: Object.fromEntries(config) };
}

let known: ReadonlyMap<string, string> | undefined;

/** Default values as JSON, by key. */
function defaults(): ReadonlyMap<string, string> {
  known ??= new Map(
    Object.entries(wireKeys(parseConfig({ name: "app", entrypoint: "app", cwd: "/" })))
      .map(([key, value]) => [key, JSON.stringify(value)]),
  );
  return known;
}

/** State and usage, plus unusual values. */
function briefProcess(process: ProcessJson): Record<string, unknown> {
  const { name, state, pid, uptime, restarts, ready, health, last_reason, status_text } = process;
  const { cpu_percent, memory_bytes } = process;
  const minutes = Math.floor(uptime / 60e9);
  return {
    name,
    state,
    ...pid !== 0 && { pid, cpu_percent, memory_bytes, up: formatDuration(minutes * 60_000) },
    ...restarts > 0 && { restarts },
    ...pid !== 0 && !ready && { ready },
    ...health === "unhealthy" && { health },
    ...status_text !== undefined && { status_text },
    ...state !== "running" && last_reason !== "" && { last_reason },
  };
}

/** The figures of each step, in lists that begin at `since`; null where none were measured. */
function briefHistory({ since, until, step, series }: MetricsHistoryJson) {
  const stepMs = step / 1e6;
  const begin = Date.parse(since);
  return {
    since,
    until,
    step: formatDuration(stepMs),
    series: series.map(({ name, points }) => {
      const at = new Map(
        points.map((point) => [Math.round((Date.parse(point.at) - begin) / stepMs), point]),
      );
      const steps = Array.from(
        { length: Math.max(-1, ...at.keys()) + 1 },
        (_, step) => at.get(step),
      );
      return {
        name: name ?? "host",
        memory_bytes: steps.map((point) => point?.memory_bytes ?? null),
        memory_bytes_max: Math.max(0, ...points.map((point) => point.memory_bytes_max ?? 0)),
        cpu_percent: steps.map((point) => point?.cpu_percent ?? null),
        cpu_percent_max: Math.max(0, ...points.map((point) => point.cpu_percent_max ?? 0)),
      };
    }),
  };
}
