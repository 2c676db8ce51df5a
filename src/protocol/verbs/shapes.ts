/** Schemas that several verbs share. */

import { durationProblem } from "../../model/duration.ts";
import { PROCESS_STATES } from "../../model/process_info.ts";
import * as z from "../../npm/zod.ts";

/** Input of a verb that takes nothing: whatever is sent along is left alone. */
export const nothing: z.ZodMiniUndefined = z.undefined();

/**
 * Describes a schema, in the OpenAPI document, to agents and in the types of the wire. It takes a schema
 * of its own, such as a clone: a described copy by `check()` would take four times the memory.
 */
export function about<S extends z.ZodMiniType>(schema: S, description: string): S {
  if (z.globalRegistry.has(schema)) throw new Error(`Described twice: ${description}`);
  z.globalRegistry.add(schema, { description });
  return schema;
}

/** A text that is not empty. */
export const text = z.string().check(z.minLength(1));

/** A target of one process or many. */
export const target = about(
  text.clone(),
  "Name, numeric id, unique id prefix, base name of instances, `all`, `ns:<namespace>`, " +
    "`tag:<tag>` or `label:<key>=<value>`",
);

/** Input of a verb that takes a target and nothing else. */
export const onTarget = z.strictObject({ target });

/** Keys of the configuration, as tools take them. */
export const configKeys = about(
  z.record(z.string(), z.unknown()),
  "Keys of the configuration, such as `env`, `instances`, `cron` {schedule, timezone, timeout}, " +
    "`health_check` {http | tcp | command}, `max_memory`, `depends_on`; all: resource docs://keys",
);

/** A switch. */
export const flag = z.boolean("expected true or false");

/** Whether to wait. */
export const wait = about(flag.clone(), "answer when it is ready, or has failed");

/** A duration: a Go duration string, or nanoseconds. */
export const duration = z.union([z.string(), z.number()], "expected a duration").check(
  (context) => {
    const message = durationProblem(context.value);
    if (message === undefined) return;
    context.issues.push({ code: "custom", input: context.value, message });
  },
);

/** A number, or a text that says how many. */
export const count = z.union([z.int(), z.string()]);

/** A whole number in a range. */
export function wholeNumber(least: number, most: number): z.ZodMiniNumberFormat {
  const message = `expected a number from ${least} to ${most}`;
  return z.int(message).check(z.minimum(least, message), z.maximum(most, message));
}

/** Most lines of a log in one answer. */
export const MAX_LINES = 10_000;

/** How many lines of a log; 0 is all that fits. */
export const lineCount = wholeNumber(0, MAX_LINES);

/** ISO 8601. */
export const time = z.iso.datetime();

/** How a run ended. */
export const exit = z.object({
  code: about(z.nullable(z.int()), "Null when it is not known"),
  signal: about(z.nullable(z.string()), "The signal that ended it"),
  at: about(time.clone(), "When it ended"),
});

/** A process. */
export const processInfo = z.object({
  id: about(z.string(), "First 8 characters of the UUID"),
  numeric_id: about(z.int(), "Sequential number"),
  name: about(z.string(), "Unique name"),
  namespace: about(z.string(), "Group"),
  instance_index: about(z.int(), "0 for the first"),
  runtime: about(z.string(), "What runs it; `auto` for a plain program"),
  state: about(
    z.enum(PROCESS_STATES),
    "waiting: for its next automatic start, or for an app it depends on; errored: given up, only " +
      "a restart starts it",
  ),
  pid: about(z.int(), "Process id, 0 while nothing runs"),
  exit_code: about(z.int(), "Last exit code; 0 also when it never ended"),
  restarts: about(z.int(), "Automatic restarts, those after a success included"),
  created_at: about(time.clone(), "When it was added"),
  started_at: about(z.nullable(time), "When its last run began"),
  finished_at: about(z.nullable(time), "When its last run ended"),
  config: about(z.record(z.string(), z.unknown()), "Values of `env` are masked"),
  cpu_percent: about(z.number(), "Of one core"),
  memory_bytes: about(z.int(), "Resident memory of the whole tree"),
  mem_percent: about(z.number(), "The same in percent of the machine's"),
  threads: about(z.int(), "Threads of the whole tree"),
  fds: about(z.int(), "Open file descriptors"),
  tags: about(z.array(z.string()), "Words of its configuration"),
  uptime: about(z.int(), "Nanoseconds"),
  ready: about(z.boolean(), "Whether it runs and is ready"),
  health: about(z.enum(["unknown", "healthy", "unhealthy"]), "What its health checks say"),
  next_restart_at: about(z.nullable(time), "When its next automatic start is due"),
  last_reason: about(z.string(), "Why it is in this state"),
  last_exit: about(z.nullable(exit), "How its last run ended"),
});

/** How a verb went for one process. */
export const actionResult = z.object({
  name: about(z.string(), "Of the process"),
  id: about(z.string(), "First 8 characters of the UUID"),
  ok: about(z.boolean(), "Whether it worked"),
  state: about(z.enum(PROCESS_STATES), "The state it is in now"),
  pid: about(z.int(), "Process id, 0 while nothing runs"),
  error: about(z.optional(z.string()), "What went wrong, when it did not work"),
  code: about(z.optional(z.string()), "Name of the error"),
  error_line: about(z.optional(z.string()), "The line of its output that says what went wrong"),
  last_output: about(z.optional(z.array(z.string())), "Untrusted output of the app"),
  hint: about(z.optional(z.string()), "What to do about it"),
});

/** Answer of the verbs that act on processes. */
export const bulkResult = z.object({
  status: about(
    z.string(),
    "What was done: `stopped`, `restarted`, …; `failed` when that worked for none",
  ),
  results: about(z.array(actionResult), "How it went for each process"),
});

/** Answer of the verbs that go on no further when one fails. */
export const rollingResult = z.extend(bulkResult, {
  rolled_back: about(z.boolean(), "Whether the old ones were put back"),
});

/** One changed key, with the value before and after where it may be shown. */
export const fieldChange = z.object({
  field: about(z.string(), "The key"),
  from: about(z.optional(z.unknown()), "Value before"),
  to: about(z.optional(z.unknown()), "Value after"),
});

/** Over REST: `{status}` when the verb worked for all, else also how it went for each. */
export function statusOnly(word?: string) {
  return {
    schema: z.object({
      status: word === undefined ? z.string() : z.literal(word),
      results: about(z.optional(z.array(actionResult)), "When it did not work for all"),
    }),
    of: ({ status, results }: z.output<typeof bulkResult>) =>
      results.every(({ ok }) => ok) ? { status } : { status, results },
  };
}
