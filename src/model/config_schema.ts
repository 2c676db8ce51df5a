/** Validates configurations of processes, `web` and webhooks, whatever their source. */

import * as z from "zod/mini";
import { OVERDUE, parseCondition } from "./alert_rules.ts";
import { didYouMean, nearestWord, withNearest } from "./nearest_word.ts";
import { ProcsupError, quote } from "./errors.ts";
import { commandProblem, configOf, expanded, foreignKey, wireKeys } from "./key_spelling.ts";
import { issueText } from "./issue_text.ts";
import { objectSchema } from "./key_schema.ts";
import {
  keyNames,
  type KeyTable,
  mayBeSecret,
  type ObjectType,
  rowOf,
  rowsAt,
} from "./key_table.ts";
import { parseListen, remoteProblem, type WebSettings } from "./listen_address.ts";
import { oneForMany } from "./log_paths.ts";
import { isMap, type Keyed } from "./merge_patch.ts";
import type { AlertConfig, ProcessConfig } from "./process_config.ts";
import { PROCESS_KEYS } from "./process_keys.ts";
import { HOST_ALERT_KEYS, WEB_KEYS, WEBHOOK_KEYS } from "./settings_keys.ts";
import { lowered } from "./plain_text.ts";
import type { Webhook } from "./webhook.ts";

type Path = readonly PropertyKey[];

/** An invalid configuration, with the path of the invalid part. */
export class ConfigFieldError extends ProcsupError {
  /** Keys and list indexes that lead to the invalid part. */
  readonly path: Path;
  /** True if the key itself is invalid, rather than its value. */
  readonly onKey: boolean;
  /** One error for each unknown key, or else for each invalid value. */
  readonly each: readonly ConfigFieldError[];
  /** What is wrong with the value, without the name of the key; undefined if not told apart. */
  readonly why: string | undefined;

  constructor(
    message: string,
    path: Path,
    onKey = false,
    each: readonly ConfigFieldError[] = [],
    why?: string,
  ) {
    const field = path.filter((key) => typeof key === "string").join(".");
    super("invalid_config", message, field === "" ? {} : { field });
    this.path = path;
    this.onKey = onKey;
    this.each = each.length > 0 ? each : [this];
    this.why = why;
  }
}

/** Maximum number of mistakes that an error names; the others are only counted. */
const MAX_NAMED = 10;

/**
 * Returns the input in wire form, with defaults. Throws a `ConfigFieldError` that lists the unknown
 * keys, or else names the first invalid value. It has an error for each of the first mistakes, and
 * one that counts the others.
 */
function checked(table: KeyTable, input: unknown, where = ""): Keyed {
  const schema = objectSchema({ type: "object", keys: table, named: "" });
  const result = z.safeParse(schema, input, { error: issueText });
  if (result.success) return result.data as Keyed;
  const { issues } = result.error;
  const unknown = issues.flatMap((issue) =>
    issue.code === "unrecognized_keys" ? issue.keys.map((key) => ({ issue, key })) : []
  );
  const invalid = issues.filter(({ code }) => code !== "unrecognized_keys").map(innermost)
    // A misspelled key makes the right one look missing.
    .filter((issue) =>
      unknown.length === 0 || located(issue.path, input, table).value !== undefined
    );
  const unknownNamed = unknown.slice(0, MAX_NAMED)
    .map(({ issue, key }) => unknownKey(issue, key, input, table, where));
  const named = [
    ...unknownNamed,
    ...invalid.slice(0, MAX_NAMED - unknownNamed.length)
      .map((issue) => fieldError(issue, input, table, where)),
  ];
  const count = unknown.length + invalid.length - named.length;
  const others = count > 0 ? [new ConfigFieldError(`and ${count} more mistakes`, [])] : [];
  const [{ message, path, onKey }] = named as [ConfigFieldError];
  const keys = [...unknownNamed, ...unknown.length > MAX_NAMED ? others : []];
  const all = keys.map((error) => error.message).join("; ");
  throw new ConfigFieldError(all || message, path, onKey, [...named, ...others]);
}

function unknownKey(
  issue: z.core.$ZodIssueUnrecognizedKeys,
  key: string,
  input: unknown,
  table: KeyTable,
  where: string,
): ConfigFieldError {
  const { path } = located(issue.path, input, table);
  const field = fieldOf(path, where);
  const ours = table === PROCESS_KEYS && path.length === 0 ? foreignKey(key) : undefined;
  const known = keysAt(table, path);
  const near = ours ?? nearestWord(key, known);
  const name = field === "" ? key : `${field}.${key}`;
  // The process itself has too many keys to list.
  const expected = near === undefined && path.length > 0
    ? `: expected one of ${known.join(", ")}`
    : "";
  const message = withNearest(`Unknown key ${quote(name)}`, near) + expected;
  return new ConfigFieldError(message, [...path, key], true);
}

/**
 * Checks a configuration in wire form and fills in the defaults.
 * Throws `ProcsupError` `invalid_config` naming the first field that is wrong.
 */
export function parseConfig(input: unknown): ProcessConfig {
  if (!isMap(input)) throw new ConfigFieldError("Invalid configuration: expected an object", []);
  const problem = commandProblem(input);
  if (problem !== undefined) {
    throw new ConfigFieldError(`Invalid "command": ${problem}`, ["command"], true);
  }
  const wire = checked(PROCESS_KEYS, jobRules(expanded(input)));
  const config = configOf(wire) as unknown as ProcessConfig;
  for (const [index, { when }] of config.alerts.entries()) {
    const isJob = parseCondition(when, "process").figure === OVERDUE;
    if (!isJob || (config.cron ?? config.cronRestart) !== undefined) continue;
    const message = `Invalid "alerts.${index}" ${
      quote(when)
    }: it has no "cron" and no "cron_restart"`;
    throw new ConfigFieldError(message, ["alerts", index]);
  }
  const shared = oneForMany(config);
  if (shared === undefined) return config;
  const { key, path, problem: what } = shared;
  const message = `Invalid "log.${key}" ${quote(path)}: it ${what}, put {instance} into the path`;
  throw new ConfigFieldError(message, ["log", key]);
}

/** Removes from a file's defaults the keys that a cron job cannot have. */
export function jobDefaults({ cron_restart: _, restart_policy, ...defaults }: Keyed): Keyed {
  return restart_policy === "always" ? defaults : { ...defaults, restart_policy };
}

/** Checks a cron job. Its default policy is `never`: a failed run waits for the next one. */
function jobRules(config: Keyed): Keyed {
  if (config.cron === undefined) return config;
  const refuse = (key: string, why: string) =>
    new ConfigFieldError(`Invalid "${key}" ${quote(config[key])}: ${why}`, [key]);
  if (config.restart_policy === "always") {
    throw refuse("restart_policy", 'a process with "cron" ends between its runs');
  }
  if (config.cron_restart !== undefined) {
    throw refuse(
      "cron_restart",
      'a process with "cron" ends between its runs; give one of the two',
    );
  }
  return { ...config, restart_policy: config.restart_policy ?? "never" };
}

/** Validates `web` and fills in the defaults. Throws `ConfigFieldError`. */
export function parseWeb(input: unknown): WebSettings {
  const settings = checked(WEB_KEYS, input, "web") as unknown as WebSettings;
  const { listen, allow_remote } = settings;
  const remote = allow_remote ? undefined : remoteProblem(parseListen(listen));
  if (remote === undefined) return settings;
  const allowed = '"allow_remote: true" allows it, with "tls" or behind a proxy that has it';
  const message = `Invalid "web.listen" ${quote(listen)}: ${lowered(remote)}; ${allowed}`;
  throw new ConfigFieldError(message, ["listen"]);
}

/** Validates the `alerts` at the top level of a file, and fills in the defaults. */
export function parseHostAlerts(input: Keyed): readonly AlertConfig[] {
  const { alerts } = configOf(checked(HOST_ALERT_KEYS, input), HOST_ALERT_KEYS);
  return alerts as readonly AlertConfig[];
}

/** Returns alerts in wire form, with all defaults. */
export function alertsWire(alerts: readonly AlertConfig[]): Record<string, unknown> {
  return wireKeys({ alerts }, HOST_ALERT_KEYS);
}

/** Reserved name: `POST /webhooks/test` tests all webhooks. */
const ALL_WEBHOOKS = "test";

/** Validates a webhook and fills in the defaults. Paths of its secret are relative to `cwd`. */
export function parseWebhook(input: Keyed, cwd: string): Webhook {
  const wire = checked(WEBHOOK_KEYS, input, `webhooks.${input.name}`);
  if (input.name === ALL_WEBHOOKS) {
    const problem = `Invalid "webhooks.${input.name}": POST /webhooks/test means all webhooks`;
    throw new ConfigFieldError(`${problem}; use another name`, ["name"]);
  }
  return { ...configOf(wire, WEBHOOK_KEYS) as unknown as Omit<Webhook, "cwd">, cwd };
}

/** Returns a webhook in wire form, with all defaults. */
export function webhookWire({ cwd: _, ...given }: Webhook): Record<string, unknown> {
  return wireKeys(given, WEBHOOK_KEYS);
}

function fieldError(
  issue: z.core.$ZodIssue,
  input: unknown,
  table: KeyTable,
  where: string,
): ConfigFieldError {
  const { path, value } = located(issue.path, input, table);
  const field = fieldOf(path, where);
  if (issue.code === "unrecognized_keys") {
    return unknownKey(issue, issue.keys[0]!, input, table, where);
  }
  const params = issue.code === "custom" ? issue.params ?? {} : {};
  if (params.twice) {
    const whole = path.length === 1 && where === ""
      ? "configuration"
      : `"${fieldOf(path.slice(0, -1), where)}"`;
    return new ConfigFieldError(`Invalid ${whole}: ${issue.message}`, path, true);
  }
  if (value === undefined) {
    const why = where === "" && path.length === 1 ? ": every process needs it" : "";
    return new ConfigFieldError(`Missing "${field}"${why}`, path, false, [], "a part is missing");
  }
  const quoted = mayBeSecret(table, path, value) ? "" : `${quote(value)}: `;
  const why = `${quoted}${adviceOf(issue, value, table, path)}`;
  const message = `Invalid "${field}"${quoted === "" ? ": " : " "}${why}`;
  return new ConfigFieldError(message, path, params.onKey === true, [], why);
}

function fieldOf(path: Path, where: string): string {
  return [...where === "" ? [] : [where], ...path].join(".");
}

/**
 * Finds the path and value of an issue in the input as written, before shorthands and aliases were
 * expanded.
 */
function located(path: Path, input: unknown, table: KeyTable): { path: Path; value: unknown } {
  const written: PropertyKey[] = [];
  let value = input;
  for (const part of path) {
    if (typeof value !== "object" || value === null) break;
    if (Array.isArray(value) && typeof part !== "number") continue;
    const owner = written.length === 0 ? table : tableAt(table, written);
    const row = owner && typeof part === "string" ? rowOf(owner, part) : undefined;
    const object = value as Record<PropertyKey, unknown>;
    const own = (name: PropertyKey) => Object.hasOwn(object, name) ? object[name] : undefined;
    const given = [part, ...row?.aliases ?? []].find((name) => own(name) !== undefined) ?? part;
    written.push(given);
    value = own(given);
  }
  return { path: written, value };
}

function tableAt(table: KeyTable, path: Path): KeyTable | undefined {
  const row = rowsAt(table, path)[path.length - 1] as ObjectType | undefined;
  return row?.type === "object" ? row.keys : undefined;
}

function keysAt(table: KeyTable, path: Path): string[] {
  const inner = path.length === 0 ? table : tableAt(table, path);
  return inner === undefined ? [] : keyNames(inner);
}

/** For a union, returns the issue of the branch that fits the form of the value. */
function innermost(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== "invalid_union") return issue;
  const inner = issue.errors.flat().find(({ path }) => path.length > 0) ??
    issue.errors.flat().find(({ code }) => code !== "invalid_type");
  return inner === undefined ? issue : { ...inner, path: [...issue.path, ...inner.path] };
}

function adviceOf(issue: z.core.$ZodIssue, value: unknown, table: KeyTable, path: Path): string {
  const row = rowsAt(table, path)[path.length - 1];
  if (row?.type === "object" && row.exactlyOne && typeof value === "string") {
    return "expected { env: NAME }, { file: PATH } or { command: LINE }";
  }
  const choices = issue.code === "invalid_value" ? issue.values.map(String) : [];
  const near = typeof value === "string" ? nearestWord(value, choices) : undefined;
  return near === undefined ? lowered(issue.message) : didYouMean(near);
}
