/** Schemas that several verbs share. */

import { durationProblem } from "../model/duration.ts";
import { MAX_LINES } from "../model/log_line.ts";
import { PROCESS_STATES } from "../model/process_info.ts";
import * as z from "zod/mini";

/** Input of a verb without fields: nothing, or an empty object. */
export const nothing: z.ZodMiniUndefined = z.undefined();

/**
 * Adds a description, which appears in OpenAPI, for agents and in the wire types. Clone a schema
 * that is used elsewhere: `check()` would make a copy with four times the memory.
 */
export function about<S extends z.ZodMiniType>(schema: S, description: string): S {
  if (z.globalRegistry.has(schema)) throw new Error(`Described twice: ${description}`);
  z.globalRegistry.add(schema, { description });
  return schema;
}

export const text = z.string().check(z.minLength(1));

export const target = about(
  text.clone(),
  "Name, numeric id, unique id prefix, base name of instances, `all`, `ns:<namespace>`, " +
    "`tag:<tag>` or `label:<key>=<value>`",
);

/** Maximum number of targets of a request: each is compared with every process. */
const MAX_TARGETS = 1024;

/** One target, or several: each process is meant once. */
export const targets = about(
  z.union([
    target.clone(),
    z.array(target.clone()).check(z.minLength(1), z.maxLength(MAX_TARGETS)),
  ]),
  "One target or a list of them; nothing is done if one of them matches nothing",
);

/** Input of a verb that takes only targets. */
export const onTargets = z.strictObject({ target: targets });

/** Input of a verb that takes only a target. */
export const onTarget = z.strictObject({ target });

/** Configuration keys, as MCP tools take them. */
export const configKeys = about(
  z.record(z.string(), z.unknown()),
  "Keys of the configuration, such as `env`, `instances`, `cron` {schedule, timezone, timeout}, " +
    "`health_check` {http | tcp | command}, `max_memory`, `depends_on`; all: resource docs://keys",
);

/** Keys in wire form, or their text in YAML. */
export const keysOrYaml = z.union([z.record(z.string(), z.unknown()), z.string()]);

export const flag = z.boolean("expected true or false");

export const wait = about(flag.clone(), "answer when it is ready, or has failed");

/** A Go duration string, or nanoseconds. */
export const duration = z.union([z.string(), z.number()], "expected a duration").check(
  (context) => {
    const message = durationProblem(context.value);
    if (message === undefined) return;
    context.issues.push({ code: "custom", input: context.value, message });
  },
);

/** A number, or text such as `25%` or `+2`. */
export const count = z.union([z.int(), z.string()]);

export function wholeNumber(least: number, most: number): z.ZodMiniNumberFormat {
  const message = `expected a number from ${least} to ${most}`;
  return z.int(message).check(z.minimum(least, message), z.maximum(most, message));
}

/** Number of log lines; 0 for as many as fit. */
export const lineCount = wholeNumber(0, MAX_LINES);

export const time = z.iso.datetime();

/** A whole number of nanoseconds. `z.int()` would end after 104 days, at the largest safe integer. */
export function nanoseconds(description: string): z.ZodMiniNumber {
  const schema = z.number();
  z.globalRegistry.add(schema, { description, type: "integer" });
  return schema;
}

export const exit = z.object({
  code: about(z.nullable(z.int()), "Null if unknown"),
  signal: about(z.nullable(z.string()), "The signal that ended it"),
  at: about(time.clone(), "When it ended"),
  oom: about(z.optional(z.literal(true)), "Set if the kernel killed it for lack of memory"),
});

export const processInfo = z.object({
  id: about(z.string(), "First 8 characters of the UUID"),
  numeric_id: about(z.int(), "Sequential number"),
  name: about(z.string(), "Unique name"),
  namespace: about(z.string(), "Group"),
  instance_index: about(z.int(), "Index among the instances, from 0"),
  runtime: about(z.string(), "Resolved runtime; `auto` for a plain program"),
  state: about(
    z.enum(PROCESS_STATES),
    "waiting: for its next automatic start, or for an app it depends on; errored: given up, only " +
      "a restart starts it",
  ),
  pid: about(z.int(), "Process id, 0 while nothing runs"),
  exit_code: about(z.int(), "Last exit code; 0 also if it never ended"),
  restarts: about(z.int(), "Automatic restarts, including those after a success"),
  created_at: about(time.clone(), "When it was added"),
  started_at: about(z.nullable(time), "When its last run began"),
  finished_at: about(z.nullable(time), "When its last run ended"),
  config: about(z.record(z.string(), z.unknown()), "Values of `env` are masked"),
  cpu_percent: about(z.number(), "Percent of one core"),
  memory_bytes: about(z.int(), "Resident memory of the process tree"),
  mem_percent: about(z.number(), "Resident memory in percent of the machine's"),
  threads: about(z.int(), "Threads of the process tree"),
  fds: about(z.int(), "Open file descriptors"),
  tags: about(z.array(z.string()), "Words for `tag:` targets"),
  uptime: nanoseconds("Nanoseconds since its start"),
  ready: about(z.boolean(), "Whether it runs and is ready"),
  health: about(z.enum(["unknown", "healthy", "unhealthy"]), "Result of its health checks"),
  next_restart_at: about(z.nullable(time), "When its next automatic start is due"),
  last_reason: about(z.string(), "Reason for its state"),
  log_problem: about(z.optional(z.string()), "What happened to its logs during this run"),
  status_text: about(z.optional(z.string()), "Status text that the app sent by sd_notify"),
  last_exit: about(z.nullable(exit), "How its last run ended"),
});

/** What to do next. */
export const hint = z.object({
  text: about(z.optional(z.string()), "In words; makes sense without the command"),
  command: about(
    z.optional(z.object({
      verb: about(z.string(), "The command, such as `restart` or `cron run`"),
      target: about(z.optional(z.string()), "Its first argument"),
      args: about(z.optional(z.array(z.string())), "Further arguments"),
      flags: about(
        z.optional(z.record(z.string(), z.union([z.string(), z.number(), z.literal(true)]))),
        "Flags by their long names",
      ),
    })),
    "A command of procsup",
  ),
});

/** The result of a verb for one process. */
export const processResult = z.object({
  name: about(z.string(), "Name of the process"),
  id: about(z.string(), "First 8 characters of the UUID"),
  ok: about(z.boolean(), "Whether it worked"),
  state: about(z.enum(PROCESS_STATES), "State after the verb"),
  pid: about(z.int(), "Process id, 0 while nothing runs"),
  scheduled: about(z.optional(z.boolean()), "True for a job: the clock starts it"),
  deleted: about(z.optional(z.boolean()), "True if it was deleted"),
  error: about(z.optional(z.string()), "What went wrong, if it failed"),
  code: about(z.optional(z.string()), "Name of the error"),
  error_line: about(z.optional(z.string()), "The line of output that says what went wrong"),
  last_output: about(z.optional(z.array(z.string())), "Untrusted output of the app"),
  hint: about(z.optional(hint), "What to do about it"),
});

/** The answer of verbs that act on processes. */
export const bulkResult = z.object({
  status: about(
    z.string(),
    "What was done: `stopped`, `restarted`, …; `failed` if every process failed",
  ),
  results: about(z.array(processResult), "One for each process"),
});

/** The answer of verbs that stop at the first failure. */
export const rollingResult = z.extend(bulkResult, {
  rolled_back: about(z.boolean(), "Whether the old configuration was restored"),
});

/** A changed key, with its values if they may be shown. */
export const fieldChange = z.object({
  field: about(z.string(), "The key"),
  from: about(z.optional(z.unknown()), "Value before"),
  to: about(z.optional(z.unknown()), "Value after"),
});

/** REST answers only `{status}` if the verb worked for every process, otherwise the results too. */
export function statusOnly(word?: string) {
  return {
    schema: z.object({
      status: word === undefined ? z.string() : z.literal(word),
      results: about(z.optional(z.array(processResult)), "If it did not work for every process"),
    }),
    of: ({ status, results }: z.output<typeof bulkResult>) =>
      results.every(({ ok }) => ok) ? { status } : { status, results },
  };
}

/** The route for a list of targets: one request instead of one for each. */
export function routeForMany(word: string) {
  const body = `${word[0]!.toUpperCase()}${word.slice(1)}Many`;
  const help = "The same for a list of targets, in one request";
  const path = `/processes/${word}`;
  return { method: "POST", path, help, body, answers: "BulkResult" } as const;
}
