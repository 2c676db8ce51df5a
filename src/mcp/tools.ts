/** The tools: their output, and how they call the verb behind them. */

import * as z from "zod/mini";
import { ProcsupError } from "../model/errors.ts";
import { nameFromPath } from "../model/name.ts";
import { dirname, isAbsolute } from "../npm/path.js";
import { statusFor } from "../protocol/envelope.ts";
import { askEachMatch, selectProcesses } from "../protocol/select_processes.ts";
import { CONFIG_VERBS } from "../protocol/verbs/config.ts";
import { CRON_VERBS } from "../protocol/verbs/cron.ts";
import { fieldsOf } from "../protocol/verbs/read_input.ts";
import { bulkResult, processInfo } from "../protocol/verbs/shapes.ts";
import type {
  ActionMap,
  ActionResult,
  Input,
  Output,
  ProcessJson,
  VerbName,
} from "../protocol/wire.ts";
import type { Call } from "./call.ts";
import { inTools } from "./failure.ts";
import { briefHistory, briefProcess, withoutDefaults } from "./process_views.ts";
import { quotedLines, safeLog, UNTRUSTED_NOTICE } from "./safe_data.ts";
import { TOOL_VERBS, type ToolVerb } from "./tool_names.ts";

/** What a tool uses while it runs. */
interface ToolUse {
  readonly call: Call;
  /** Base of relative paths; undefined if the client's folder is unknown. */
  readonly cwd: string | undefined;
  readonly granted: ReadonlySet<string>;
  /** Aborted when the client disconnects or cancels the call. */
  readonly signal: AbortSignal;
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

const notice = z.optional(z.string());
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
      notice: z.string(),
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
      notice: z.string(),
    }),
    run: async (args: Input<"search_logs">, { call, signal }) => {
      const { lines, patterns, truncated } = await call("search_logs", args, { signal });
      const data = {
        ...lines !== undefined && { lines: lines.map(quotedFound) },
        ...patterns !== undefined && { patterns: patterns.map(quotedFound) },
      };
      return { data: { ...data, truncated, notice: UNTRUSTED_NOTICE } };
    },
  },
  list: {
    output: processes,
    run: async ({ target, detail }: { target?: string; detail?: boolean }, { call, signal }) => {
      const all = await call("list", undefined, { signal });
      const view: (process: ProcessJson) => unknown = detail ? withoutDefaults : briefProcess;
      const wanted = selectProcesses(all, target === undefined ? [] : [target]);
      return { data: { processes: wanted.map(view) } };
    },
  },
  status: {
    output: z.extend(processes, { notice: z.string() }),
    run: async ({ target }: { target: string }, use) => {
      const answers = await forEach(target, use, "why");
      return {
        data: {
          processes: answers.map(({ process, hints: _, ...why }) => ({
            ...answers.length === 1 ? process : withoutDefaults(process),
            ...quoted(why),
          })),
          notice: UNTRUSTED_NOTICE,
        },
      };
    },
  },
  why: {
    output: z.object({ apps: z.array(z.unknown()), notice: z.string() }),
    run: async ({ target }: { target: string }, use) => {
      const answers = await forEach(target, use, "why");
      const apps = answers.map(({ process: { name, state }, hints, ...why }) => ({
        ...{ name, state, ...quoted(why) },
        hints: hints.map((hint) => inTools(hint, use.granted)),
      }));
      return { data: { apps, notice: UNTRUSTED_NOTICE } };
    },
  },
  wait: {
    output: processes,
    run: async (args: Input<"wait">, { call, signal }) => {
      const found = await call("wait", args, { signal });
      return { data: { processes: found.map(briefProcess) } };
    },
  },
  events: {
    output: z.object({ events: z.array(z.unknown()), truncated: z.boolean() }),
    run: async (args: Input<"events">, { call, signal }) => {
      const { events, truncated } = await call("events", args, { signal });
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
    run: async (args: Input<"metrics_history">, { call, signal }) => ({
      data: briefHistory(await call("metrics_history", args, { signal })),
    }),
  },
  cron_list: {
    output: z.object({ jobs: CRON_VERBS.cron_list.output }),
    run: async ({ target }: { target?: string }, { call, signal }) => {
      const jobs = await call("cron_list", target, { signal });
      const shown = target === undefined ? jobs.map((job) => ({ ...job, history: [] })) : jobs;
      return { data: { jobs: shown } };
    },
  },
  add: {
    output: z.extend(bulkResult, { process: processInfo, notice }),
    run: async (args: NewApp, { call, cwd, signal }) => {
      const payload = { config: newConfig(args, cwd), wait: true };
      const { results, from_shell: _, ...process } = await call("add", payload, { signal });
      const { data, failed } = bulk({ status: statusFor("started", results), results });
      return { data: { process: withoutDefaults(process), ...data }, failed };
    },
  },
  config_reload: {
    output: z.extend(CONFIG_VERBS.config_reload.output, { notice }),
    run: async ({ file, content, plan, ...args }: ConfigArgs, { call, signal }) => {
      const source = content === undefined
        ? { config_path: file }
        : { content: { file: file ?? "", text: content } };
      const payload = { ...args, ...source, dry_run: plan, wait: true };
      return bulk(await call("config_reload", payload, { signal }));
    },
  },
};

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
    output: isBulk ? z.extend(output, { notice }) : output,
    run: async ({ target, ...args }: Record<string, unknown>, { call, signal }) => {
      const bare = "target" in row.input.shape ? { [verb.bare!]: target } : {};
      const data = await call(name, { ...args, ...bare, ...wait } as never, { signal });
      if (verb.output === bulkResult) {
        const result = data as Output<"stop">;
        return bulk({ ...result, status: statusFor(result.status, result.results) });
      }
      return isBulk ? bulk(data as Bulk) : { data: data as Bulk, failed: hasErrors(data as Bulk) };
    },
  };
}

interface Bulk extends Readonly<Record<string, unknown>> {
  readonly results: readonly ActionResult[];
  readonly errors?: readonly string[];
}

function hasErrors({ errors = [] }: Pick<Bulk, "errors">): boolean {
  return errors.length > 0;
}

function bulk({ results, ...result }: Bulk): Required<ToolAnswer> {
  const quotes = results.some(({ last_output = [] }) => last_output.length > 0);
  return {
    data: {
      ...result,
      results: results.map(quoted),
      ...(quotes ? { notice: UNTRUSTED_NOTICE } : {}),
    },
    failed: hasErrors(result) || results.some(({ ok }) => !ok),
  };
}

/** Makes output of an app safe for an agent. */
function quoted<T extends Pick<ActionResult, "error_line" | "last_output">>(given: T): T {
  const { error_line: line, last_output: lines } = given;
  return {
    ...given,
    ...line !== undefined && { error_line: quotedLines([line])[0]! },
    ...lines !== undefined && { last_output: quotedLines(lines) },
  };
}

function quotedFound<T extends { readonly line: string }>(found: T): T {
  return { ...found, line: quotedLines([found.line])[0]! };
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
  { call, signal }: ToolUse,
  verb: N,
  args: Readonly<Record<string, unknown>> = {},
): Promise<ActionMap[N]["data"][]> {
  const ask = (target: string) =>
    call(verb, { ...args, target } as ActionMap[N]["payload"], { signal });
  return await askEachMatch(target, ask, () => call("list", undefined, { signal }));
}
