/** The one schema of a process's configuration: files, REST, IPC, MCP and the library go through it. */

import { z } from "zod";
import { memoryKeys } from "./config_keys.ts";
import { didYouMean } from "./did_you_mean.ts";
import { parseDuration } from "./duration.ts";
import { messageOf, ProcsupError } from "./errors.ts";
import { nameProblem } from "./name.ts";
import type { ProcessConfig } from "./process_config.ts";
import { parseSignal } from "./signal.ts";

/** The most instances one process may have. */
export const MAX_INSTANCES = 1024;

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

const duration = () =>
  read(z.union([z.string(), z.number()], 'expected a duration such as "5s"'), parseDuration);
const signal = () =>
  read(z.union([z.string(), z.int()], 'expected a signal such as "SIGTERM"'), parseSignal);

const name = z.string().check((context) => {
  const problem = nameProblem(context.value);
  if (problem !== undefined) {
    context.issues.push({ code: "custom", input: context.value, message: problem });
  }
});

const text = () =>
  z.string().check((context) => {
    if (context.value.includes("\0")) {
      context.issues.push({ code: "custom", input: context.value, message: "holds a NUL" });
    }
  });

const env = z.record(z.string(), text()).check((context) => {
  for (const key of Object.keys(context.value)) {
    if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(key)) continue;
    context.issues.push({
      code: "custom",
      input: key,
      message: `${JSON.stringify(key)} is no variable name: letters, digits and '_' are`,
    });
  }
});

/** Every configuration key, its type and its default. */
export const configSchema = z.strictObject({
  name,
  entrypoint: text().check(z.minLength(1)),
  runtime: z.enum(["go", "python", "node", "bun", "deno", "ruby", "php", "auto"]).default("auto"),
  interpreter: text().check(z.minLength(1)).optional(),
  use_bundle: z.boolean().default(false),
  args: z.array(text()).max(4096).default([]),
  cwd: text().check(z.startsWith("/")),
  env: env.default({}),
  autostart: z.boolean().default(true),
  restart_policy: z.enum(["always", "on-failure", "never"]).default("on-failure"),
  max_restarts: z.int().min(0).default(10),
  restart_window: duration().default(60_000),
  restart_delay: duration().default(100),
  backoff_max: duration().default(60_000),
  min_uptime: duration().default(1000),
  success_exit_codes: z.array(z.int().min(0).max(255)).default([0]),
  stop_signal: signal().default("SIGTERM"),
  stop_timeout: duration().default(5000),
  reload_signal: signal().optional(),
  instances: z.int().min(1).max(MAX_INSTANCES).default(1),
  namespace: name.default("default"),
  labels: z.record(z.string(), z.string()).default({}),
  tags: z.array(z.string().check(z.minLength(1))).default([]),
});

/** Every key a configuration may have, aliases included. */
export const CONFIG_KEYS: readonly string[] = [
  ...Object.keys(configSchema.shape),
  "script",
  "binary",
];

/**
 * Checks a configuration in wire form and fills in the defaults.
 * Throws `ProcsupError` `invalid_config` naming the first field that is wrong.
 */
export function parseConfig(input: unknown): ProcessConfig {
  const given = oneEntrypoint(input);
  refuseProto(given);
  const result = configSchema.safeParse(given);
  if (!result.success) throw configError(result.error.issues[0]!, input);
  return memoryKeys(result.data) as ProcessConfig;
}

/** The schema library skips this key in a map without a word; JSON has it as any other. */
function refuseProto(config: Record<string, unknown>): void {
  for (const map of ["env", "labels"]) {
    const value = config[map];
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, "__proto__")) continue;
    throw new ProcsupError(
      "invalid_config",
      `Invalid "${map}.__proto__": this name is not possible`,
    );
  }
}

/** `script` and `binary` are other names of `entrypoint` (spec 2.2, rule 1). */
function oneEntrypoint(input: unknown): Record<string, unknown> {
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    throw new ProcsupError("invalid_config", "Invalid configuration: expected an object");
  }
  const { script, binary, entrypoint, ...rest } = input as Record<string, unknown>;
  const given = Object.entries({ entrypoint, script, binary }).filter(([, v]) => v !== undefined);
  if (given.length > 1) {
    const keys = given.map(([key]) => `"${key}"`).join(" and ");
    throw new ProcsupError(
      "invalid_config",
      `Invalid configuration: ${keys} mean the same, give one`,
    );
  }
  for (const [key, value] of given) {
    if (key === "entrypoint" || (typeof value === "string" && value !== "")) continue;
    throw new ProcsupError("invalid_config", `Invalid "${key}" ${quote(value)}: expected a path`);
  }
  return given.length === 0 ? rest : { ...rest, entrypoint: given[0]![1] };
}

function configError(issue: z.core.$ZodIssue, input: unknown): ProcsupError {
  const field = issue.path.join(".");
  if (issue.code === "unrecognized_keys") {
    const key = issue.keys[0]!;
    const near = didYouMean(key, CONFIG_KEYS);
    return new ProcsupError(
      "invalid_config",
      `Unknown key "${field ? `${field}.` : ""}${key}"` + (near ? `: did you mean "${near}"?` : ""),
    );
  }
  const value = issue.path.reduce<unknown>((at, key) => (at as never)?.[key], input);
  if (value === undefined && issue.path.length === 1) {
    return new ProcsupError("invalid_config", `Missing "${field}": every process needs it`);
  }
  // A value of the environment may be a secret: it is never quoted.
  const quoted = issue.path[0] === "env" ? "" : ` ${quote(value)}`;
  return new ProcsupError("invalid_config", `Invalid "${field}"${quoted}: ${sentence(issue)}`);
}

function quote(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}

function sentence(issue: z.core.$ZodIssue): string {
  return issue.message
    .replace(/^(Invalid (input|option)|Too (big|small)): /, "")
    .replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
}
