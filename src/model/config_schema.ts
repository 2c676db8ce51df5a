/** The one schema of a process's configuration: files, REST, IPC, MCP and the library go through it. */

import * as z from "../npm/zod.ts";
import {
  cron,
  cronRestart,
  dependsOn,
  duration,
  env,
  healthCheck,
  hooks,
  limits,
  log,
  name,
  oneOrMore,
  regex,
  secrets,
  signal,
  size,
  text,
  watch,
} from "./config_fields.ts";
import { memoryKeys } from "./config_keys.ts";
import { didYouMean } from "./did_you_mean.ts";
import { ProcsupError } from "./errors.ts";
import { foreignKey } from "./foreign_keys.ts";
import type { ProcessConfig } from "./process_config.ts";
import { quote } from "./quote.ts";
import { keysAt } from "./schema_keys.ts";

/** The most instances one process may have. */
export const MAX_INSTANCES = 1024;

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
  env_file: oneOrMore(text()).default([]),
  secrets: secrets.default({}),
  inherit_env: z.union([z.boolean(), z.array(z.string())]).default(true),
  increment_env: oneOrMore(z.string()).default([]),
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
  overlap: z.boolean().default(false),
  wait_ready: z.boolean().default(false),
  listen_timeout: duration().default(30_000),
  ready_log: regex.optional(),
  ready_delay: duration().optional(),
  health_check: healthCheck.optional(),
  hooks: hooks.default({}),
  watch: watch.optional(),
  instances: z.int().min(1).max(MAX_INSTANCES).default(1),
  namespace: name.default("default"),
  labels: z.record(z.string(), z.string()).default({}),
  tags: z.array(z.string().check(z.minLength(1))).default([]),
  depends_on: dependsOn.default({}),
  priority: z.int().default(0),
  cron_restart: cronRestart.optional(),
  cron: cron.optional(),
  max_memory: size().optional(),
  max_age: duration().optional(),
  sockets: z.array(z.string()).default([]),
  uid: z.union([z.string(), z.int().min(0)]).optional(),
  gid: z.union([z.string(), z.int().min(0)]).optional(),
  umask: z.string().check(z.regex(/^0?[0-7]{3}$/, 'expected octal digits such as "027"'))
    .optional(),
  nice: z.int().min(-20).max(19).optional(),
  limits: limits.default({}),
  log: log.prefault({}),
});

/** Every key a configuration may have, aliases included. */
export const CONFIG_KEYS: readonly string[] = [
  ...Object.keys(configSchema.shape),
  "script",
  "binary",
];

/** A configuration that is refused, and the part of it that is wrong. */
export class ConfigFieldError extends ProcsupError {
  /** Keys and indexes down to the part. */
  readonly path: readonly PropertyKey[];
  /** Whether the key itself is wrong, and not its value. */
  readonly onKey: boolean;

  constructor(message: string, path: readonly PropertyKey[], onKey = false) {
    super("invalid_config", message);
    this.path = path;
    this.onKey = onKey;
  }
}

/**
 * Checks a configuration in wire form and fills in the defaults.
 * Throws `ProcsupError` `invalid_config` naming the first field that is wrong.
 */
export function parseConfig(input: unknown): ProcessConfig {
  const given = jobRules(oneEntrypoint(input));
  refuseProto(given);
  const result = configSchema.safeParse(given);
  if (!result.success) throw configError(firstIssue(result.error.issues), input);
  return memoryKeys(result.data) as ProcessConfig;
}

/** A misspelt key is why another one is missing: it is told first. */
function firstIssue(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue {
  return issues.find(({ code }) => code === "unrecognized_keys") ?? issues[0]!;
}

/** A job ends between its runs: it is not kept up, and a run that fails waits for the next tick. */
function jobRules(config: Record<string, unknown>): Record<string, unknown> {
  if (config.cron === undefined) return config;
  const refuse = (key: string, why: string) =>
    new ConfigFieldError(`Invalid "${key}" ${quote(config[key])}: ${why}`, [key]);
  if (config.restart_policy === "always") {
    throw refuse("restart_policy", 'a process with "cron" ends between its runs');
  }
  if (config.cron_restart !== undefined) {
    throw refuse("cron_restart", 'a process with "cron" is not kept up, give one of the two');
  }
  return { ...config, restart_policy: config.restart_policy ?? "never" };
}

/** The schema library skips this key in a map without a word; JSON has it as any other. */
function refuseProto(config: Record<string, unknown>): void {
  for (const map of ["env", "labels", "depends_on", "secrets"]) {
    const value = config[map];
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, "__proto__")) continue;
    throw new ConfigFieldError(
      `Invalid "${map}.__proto__": this name is not possible`,
      [map, "__proto__"],
      true,
    );
  }
}

/** `script` and `binary` are other names of `entrypoint` (spec 2.2, rule 1). */
function oneEntrypoint(input: unknown): Record<string, unknown> {
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    throw new ConfigFieldError("Invalid configuration: expected an object", []);
  }
  const { script, binary, entrypoint, ...rest } = input as Record<string, unknown>;
  const given = Object.entries({ entrypoint, script, binary }).filter(([, v]) => v !== undefined);
  if (given.length > 1) {
    const keys = given.map(([key]) => `"${key}"`).join(" and ");
    throw new ConfigFieldError(
      `Invalid configuration: ${keys} mean the same, give one`,
      [given[1]![0]],
      true,
    );
  }
  for (const [key, value] of given) {
    if (key === "entrypoint" || (typeof value === "string" && value !== "")) continue;
    throw new ConfigFieldError(`Invalid "${key}" ${quote(value)}: expected a path`, [key]);
  }
  return given.length === 0 ? rest : { ...rest, entrypoint: given[0]![1] };
}

function configError(issue: z.core.$ZodIssue, input: unknown): ConfigFieldError {
  const field = issue.path.join(".");
  if (issue.code === "unrecognized_keys") {
    const key = issue.keys[0]!;
    const known = field === "" ? CONFIG_KEYS : keysAt(configSchema, issue.path);
    const ours = field === "" ? foreignKey(key) : undefined;
    const near = ours ?? didYouMean(key, known);
    return new ConfigFieldError(
      `Unknown key "${field ? `${field}.` : ""}${key}"` + (near ? `: did you mean "${near}"?` : ""),
      [...issue.path, key],
      true,
    );
  }
  const value = issue.path.reduce<unknown>((at, key) => (at as never)?.[key], input);
  if (value === undefined && issue.path.length === 1) {
    return new ConfigFieldError(`Missing "${field}": every process needs it`, issue.path);
  }
  // A value of the environment may be a secret: it is never quoted.
  const quoted = issue.path[0] === "env" ? "" : ` ${quote(value)}`;
  return new ConfigFieldError(`Invalid "${field}"${quoted}: ${sentence(issue)}`, issue.path);
}

function sentence(issue: z.core.$ZodIssue): string {
  return issue.message
    .replace(/^(Invalid (input|option)|Too (big|small)): /, "")
    .replace(/\b(expected|received) (?:record|object)\b/g, "$1 map")
    .replace(/\b(expected|received) array\b/g, "$1 list")
    .replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
}
