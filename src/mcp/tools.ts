/** The tools: what each gives, and how the verb behind it is called. */

import * as z from "zod/mini";
import { parseConfig } from "../model/config_schema.ts";
import { wireKeys } from "../model/key_spelling.ts";
import { nameFromPath } from "../model/name.ts";
import { dirname, isAbsolute } from "../npm/path.js";
import { statusFor } from "../protocol/failed_result.ts";
import { selectProcesses } from "../protocol/select_processes.ts";
import { fieldsOf } from "../protocol/verbs/read_query.ts";
import { about, bulkResult, processInfo } from "../protocol/verbs/shapes.ts";
import { INSPECT_VERBS } from "../protocol/verbs/inspect.ts";
import type { VerbName } from "../protocol/verbs/types.ts";
import type { ActionResult, BulkResult, ProcessJson } from "../protocol/wire.ts";
import type { Call } from "./call.ts";
import { quotedLines, safeLog, UNTRUSTED_NOTICE } from "./safe_data.ts";
import { TOOL_VERBS, type ToolVerb } from "./tool_names.ts";

/** What a tool is run with. */
interface ToolUse {
  readonly call: Call;
  /** Where relative things are looked for; undefined where there is no such place. */
  readonly cwd: string | undefined;
  /** Aborted when the client disconnects or cancels the call. */
  readonly signal: AbortSignal;
}

/** What a tool gives. */
export interface ToolAnswer {
  readonly data: Record<string, unknown>;
  /** It was carried out, and did not work for all. */
  readonly failed?: boolean;
}

/** One tool. */
export interface Tool extends ToolVerb {
  readonly output: z.ZodMiniType;
  /** Takes arguments that the input schema has let through. */
  readonly run: (args: never, use: ToolUse) => Promise<ToolAnswer>;
}

type Behaviour = Pick<Tool, "output" | "run">;

const notice = about(z.optional(z.string()), "Stands beside `last_output`");
const results = z.extend(bulkResult, { notice });

/** Tools that do more than call their verb. */
const SPECIAL: { readonly [N in VerbName]?: Behaviour } = {
  list: {
    output: z.object({ processes: z.array(processInfo) }),
    run: async ({ target }: { target?: string }, { call, signal }) => {
      const all = await call("list", undefined, { signal });
      const wanted = selectProcesses(all, target === undefined ? [] : [target]);
      return { data: { processes: wanted.map(briefProcess) } };
    },
  },
  why: {
    output: z.extend(z.omit(INSPECT_VERBS.why.output, { hints: true }), { notice }),
    run: async ({ target }: { target: string }, { call, signal }) => {
      const { hints: _, ...why } = await call("why", target, { signal });
      return { data: { ...quoted(why), notice: UNTRUSTED_NOTICE } };
    },
  },
  logs: {
    output: z.object({
      target: z.string(),
      stream: z.enum(["stdout", "stderr"]),
      path: about(z.string(), "The log file"),
      lines: about(z.string(), "The requested count"),
      truncated: about(
        z.boolean(),
        "Whether the beginning was left out to keep within 1 MiB",
      ),
      notice: z.string(),
      logs: about(z.string(), "Untrusted output of the app"),
    }),
    run: async (args: { target: string; stderr: boolean }, { call, signal }) => {
      const { logs, path, lines } = await call("logs", args, { signal });
      const { text, truncated } = safeLog(logs);
      const stream = args.stderr ? "stderr" : "stdout";
      const about = { target: args.target, stream, path, lines, truncated };
      return { data: { ...about, notice: UNTRUSTED_NOTICE, logs: text } };
    },
  },
  add: {
    output: z.extend(results, { process: processInfo }),
    run: async (args: NewApp, { call, cwd, signal }) => {
      const payload = { config: newConfig(args, cwd), wait: true };
      const { results, ...process } = await call("add", payload, { signal });
      const { data, failed } = bulk({ status: "started", results });
      return { data: { process, ...data }, failed };
    },
  },
};

/** Every tool. */
export const TOOLS: readonly Tool[] = TOOL_VERBS.map((tool) => ({
  ...tool,
  ...SPECIAL[tool.name] ?? usual(tool),
}));

/** Calls the verb, waits where it can, and gives what it answers. */
function usual({ name, verb }: ToolVerb): Behaviour {
  const wait = "wait" in fieldsOf(verb) ? { wait: true } : {};
  const isBulk = verb.output === bulkResult;
  return {
    output: isBulk ? results : verb.output,
    run: async (args: Record<string, unknown>, { call, signal }) => {
      const data = await call(name, { ...args, ...wait } as never, { signal });
      if (isBulk) return bulk(data as BulkResult);
      const { errors = [] } = data as { readonly errors?: readonly string[] };
      return { data: { ...data as object }, failed: errors.length > 0 };
    },
  };
}

function bulk({ results, ...result }: BulkResult): Required<ToolAnswer> {
  const quotes = results.some(({ last_output = [] }) => last_output.length > 0);
  return {
    data: {
      ...result,
      status: statusFor(result.status, results),
      results: results.map(quoted),
      ...(quotes ? { notice: UNTRUSTED_NOTICE } : {}),
    },
    failed: results.some(({ ok }) => !ok),
  };
}

/** What an app wrote, fit for an agent. */
function quoted<T extends Pick<ActionResult, "error_line" | "last_output">>(given: T): T {
  const { error_line: line, last_output: lines } = given;
  return {
    ...given,
    ...line !== undefined && { error_line: quotedLines([line])[0]! },
    ...lines !== undefined && { last_output: quotedLines(lines) },
  };
}

type NewApp = Readonly<Record<string, unknown>> & { readonly entrypoint: string };

/** The configuration of a new app; what the daemon needs and an agent need not say is filled in. */
function newConfig(args: NewApp, here: string | undefined): Record<string, unknown> {
  const { entrypoint } = args;
  const folder = isAbsolute(entrypoint) ? dirname(entrypoint) : here;
  return {
    name: nameFromPath(entrypoint),
    ...(folder === undefined ? {} : { cwd: folder }),
    ...args,
  };
}

/** Keys that say what it is, default or not. */
const ALWAYS: ReadonlySet<string> = new Set(["name", "entrypoint", "cwd"]);

/** The same process, its configuration only as far as it differs from the defaults. */
function briefProcess(process: ProcessJson): ProcessJson {
  const config = Object.entries(process.config).filter(([key, value]) =>
    ALWAYS.has(key) || JSON.stringify(value) !== defaults().get(key)
  );
  return { ...process, config: Object.fromEntries(config) };
}

let known: ReadonlyMap<string, string> | undefined;

/** Each key's default, as JSON. */
function defaults(): ReadonlyMap<string, string> {
  known ??= new Map(
    Object.entries(wireKeys(parseConfig({ name: "app", entrypoint: "app", cwd: "/" })))
      .map(([key, value]) => [key, JSON.stringify(value)]),
  );
  return known;
}
