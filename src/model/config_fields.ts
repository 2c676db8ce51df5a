/** The kinds of value that configuration keys take, and the objects nested in a configuration. */

import * as z from "../npm/zod.ts";
import { parseDuration } from "./duration.ts";
import { messageOf } from "./errors.ts";
import { nameProblem } from "./name.ts";
import { parseSignal } from "./signal.ts";
import { parseSize } from "./size.ts";

/** A field whose text form is read by one of our own parsers. */
function read<I extends z.ZodType, O>(input: I, parse: (value: z.output<I>) => O) {
  return input.transform((value, context): O => {
    try {
      return parse(value);
    } catch (error) {
      context.addIssue({ code: "custom", message: messageOf(error) });
      return z.NEVER;
    }
  });
}

/** Objects that may also be given in a shorter form: schema of the whole → schema of the short form. */
export const SHORT_FORMS = new WeakMap<z.core.$ZodType, z.ZodType>();

/** An object with a shorter form, which `expand` turns into the full one. */
function orShort<T extends z.ZodType>(
  short: z.ZodType,
  expand: (value: unknown) => unknown,
  full: T,
) {
  const schema = z.preprocess(expand, full);
  SHORT_FORMS.set(schema, short);
  return schema;
}

const DURATION_PATTERN = "^(0|(([0-9]+(\\.[0-9]*)?|\\.[0-9]+)(ns|us|µs|ms|s|m|h))+)$";
const SIZE_PATTERN = "^[0-9]+(\\.[0-9]+)? ?([kKmMgG]i?)?[bB]?$";
const NAME_PATTERN = "^(?!(?:[Aa][Ll][Ll]|[0-9]+)$)[A-Za-z0-9][A-Za-z0-9._-]{0,127}$";
const VARIABLE_PATTERN = "^[^=\\s\\0]+$";

/** A duration, in milliseconds. */
export const duration = () =>
  read(
    z.union(
      [z.string().meta({ pattern: DURATION_PATTERN }), z.number().meta({ minimum: 0 })],
      'expected a duration such as "5s"',
    ),
    parseDuration,
  );
/** A signal by its name. */
export const signal = () =>
  read(z.union([z.string(), z.int()], 'expected a signal such as "SIGTERM"'), parseSignal);

/** A process name. */
export const name = z.string().check((context) => {
  const problem = nameProblem(context.value);
  if (problem !== undefined) {
    context.issues.push({ code: "custom", input: context.value, message: problem });
  }
}).meta({ pattern: NAME_PATTERN });

/** Text that a command line can hold. */
export const text = () =>
  z.string().check((context) => {
    if (context.value.includes("\0")) {
      context.issues.push({ code: "custom", input: context.value, message: "holds a NUL" });
    }
  });

/** Refuses keys that cannot name a variable. */
function variableNames(context: z.core.ParsePayload<object>): void {
  for (const key of Object.keys(context.value)) {
    if (new RegExp(VARIABLE_PATTERN).test(key)) continue;
    context.issues.push({
      code: "custom",
      input: key,
      message: `${
        JSON.stringify(key)
      } cannot name a variable: it is empty, or holds a blank or "="`,
    });
  }
}

const propertyNames = { pattern: VARIABLE_PATTERN };

/** Variables of an environment. */
export const env = z.record(z.string(), text()).check(variableNames).meta({ propertyNames });

/** Where the value of a secret stands. */
export const secret = z.strictObject({
  env: z.string().check(z.minLength(1)).optional(),
  file: z.string().check(z.minLength(1)).optional(),
  command: text().check(z.minLength(1)).optional(),
}).check((context) => {
  if (Object.values(context.value).filter((value) => value !== undefined).length === 1) return;
  const message = 'expected exactly one of "env", "file" and "command"';
  context.issues.push({ code: "custom", input: context.value, message });
}).meta({ minProperties: 1, maxProperties: 1 });

/** Variables whose values stand elsewhere. */
export const secrets = z.record(z.string(), secret).check(variableNames).meta({ propertyNames });

/** A size, in bytes. */
export const size = () =>
  read(
    z.union(
      [z.string().meta({ pattern: SIZE_PATTERN }), z.number().meta({ minimum: 0 })],
      'expected a size such as "512MB"',
    ),
    parseSize,
  );

/** One or several of something, as a list. */
export function oneOrMore<T extends z.ZodType>(item: T) {
  return z.union([item, z.array(item)]).transform((value) =>
    (Array.isArray(value) ? value : [value]) as z.output<T>[]
  );
}

function regexProblem(source: string): string | undefined {
  try {
    new RegExp(source);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** The source of a regular expression. */
export const regex = z.string().check((context) => {
  const problem = regexProblem(context.value);
  if (problem === undefined) return;
  context.issues.push({ code: "custom", input: context.value, message: problem });
});

const onFailure = z.string().check((context) => {
  const [, signalName] = /^signal:(.+)$/.exec(context.value) ?? [];
  try {
    if (signalName !== undefined) return void parseSignal(signalName);
  } catch (error) {
    return void context.issues.push({
      code: "custom",
      input: context.value,
      message: messageOf(error),
    });
  }
  if (context.value === "restart" || context.value === "none") return;
  context.issues.push({
    code: "custom",
    input: context.value,
    message: 'expected "restart", "none" or "signal:" and a signal',
  });
});

/** Spec 2.3, HealthCheckConfig. */
export const healthCheck = z.preprocess(
  (value) => {
    // `address` is another name of `tcp_endpoint`.
    if (typeof value !== "object" || value === null || !("address" in value)) return value;
    const { address, ...rest } = value;
    return { tcp_endpoint: address, ...rest };
  },
  z.strictObject({
    type: z.enum(["http", "tcp", "command"]),
    url: z.url({ protocol: /^https?$/, error: "expected an http:// or https:// URL" }).optional(),
    tcp_endpoint: z.string().check(z.regex(/^.+:\d{1,5}$/, 'expected "host:port"')).optional(),
    command: text().check(z.minLength(1)).optional(),
    interval: duration().refine((ms) => ms >= 10, "10ms is the least").default(10_000),
    timeout: duration().refine((ms) => ms >= 1, "1ms is the least").default(5000),
    retries: z.int().min(1).default(3),
    success_threshold: z.int().min(1).default(1),
    grace_period: duration().default(0),
    on_failure: onFailure.default("restart"),
  }).check((context) => {
    const needed = { http: "url", tcp: "tcp_endpoint", command: "command" } as const;
    const key = needed[context.value.type];
    if (context.value[key] !== undefined) return;
    context.issues.push({
      code: "custom",
      input: context.value,
      message: `type "${context.value.type}" needs "${key}"`,
    });
  }),
);

const hook = orShort(
  z.string(),
  (value) => typeof value === "string" ? { command: value } : value,
  z.strictObject({
    command: text(),
    timeout: duration().default(30_000),
    ignore_failure: z.boolean().default(false),
    run_as_root: z.boolean().default(false),
  }),
);

/** Spec 2.3, HooksConfig. */
export const hooks = z.strictObject({
  pre_start: hook.optional(),
  post_start: hook.optional(),
  pre_stop: hook.optional(),
  post_stop: hook.optional(),
  pre_restart: hook.optional(),
  post_restart: hook.optional(),
  pre_reload: hook.optional(),
  post_reload: hook.optional(),
  pre_healthcheck: hook.optional(),
  post_healthcheck: hook.optional(),
});

/** Spec 2.3, WatchConfig; `true` or a list of paths is enough. */
export const watch = orShort(
  z.union([z.boolean(), z.array(z.string())]),
  (value) =>
    typeof value === "boolean"
      ? { enabled: value }
      : Array.isArray(value)
      ? { paths: value }
      : value,
  z.strictObject({
    enabled: z.boolean().default(true),
    paths: z.array(text()).default([]),
    ignore: z.array(text()).default([]),
    debounce: duration().default(100),
  }),
);

/** A list of names (each must be ready), or a map of names to conditions. */
export const dependsOn = orShort(
  z.array(z.string()),
  (value) =>
    Array.isArray(value) && value.every((item) => typeof item === "string")
      ? Object.fromEntries(value.map((item) => [item, "ready"]))
      : value,
  z.record(z.string(), z.enum(["started", "ready", "healthy", "completed", "completed_ok"])),
);

const schedule = { schedule: z.string().check(z.minLength(1)), timezone: z.string().optional() };
const bareSchedule = (value: unknown) => typeof value === "string" ? { schedule: value } : value;

/** A schedule of restarts. */
export const cronRestart = orShort(z.string(), bareSchedule, z.strictObject(schedule));

/** A schedule of runs. */
export const cron = orShort(
  z.string(),
  bareSchedule,
  z.strictObject({
    ...schedule,
    overlap: z.enum(["skip", "kill", "queue"]).default("skip"),
    timeout: duration().optional(),
    enabled: z.boolean().default(true),
  }),
);

/** Limits of resources. */
export const limits = z.strictObject({
  nofile: z.int().min(1).optional(),
  nproc: z.int().min(1).optional(),
  core: size().optional(),
  address_space: size().optional(),
  file_size: size().optional(),
  memory: size().optional(),
  cpu_percent: z.number().min(1).optional(),
  pids: z.int().min(1).optional(),
});

/** Rotation of logs. */
export const log = z.strictObject({
  max_size: size().default(10 * 1024 * 1024),
  max_files: z.int().min(0).max(1000).default(5),
  max_age: duration().default(7 * 24 * 3_600_000),
  compress: z.boolean().default(true),
  pipe: z.boolean().default(false),
});
