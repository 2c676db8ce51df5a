/** The schema of what a configuration file says about the daemon itself: `web` and `webhooks`. */

import * as z from "../npm/zod.ts";
import { ConfigFieldError } from "./config_schema.ts";
import { duration, name, oneOrMore, secret, text } from "./config_fields.ts";
import { memoryKeys, wireKeys } from "./config_keys.ts";
import { didYouMean } from "./did_you_mean.ts";
import { messageOf } from "./errors.ts";
import { DEFAULT_LISTEN, parseListen, remoteProblem, type WebSettings } from "./listen_address.ts";
import { keysAt } from "./schema_keys.ts";
import { type Webhook, WEBHOOK_EVENTS } from "./webhook.ts";

function problem(context: z.core.ParsePayload, message: string): void {
  context.issues.push({ code: "custom", input: context.value, message });
}

const listen = z.string().check((context) => {
  try {
    parseListen(context.value);
  } catch (error) {
    problem(context, messageOf(error).replace(/^Invalid address ".*": /, ""));
  }
}).meta({ pattern: "(^|:)[0-9]{1,5}$|\\$\\{" });

const path = text().check(z.minLength(1));

/** `web`: where the dashboard and the REST API listen. */
export const webSchema = z.strictObject({
  listen: listen.default(DEFAULT_LISTEN),
  allow_remote: z.boolean().default(false),
  hosts: z.array(z.string().check(z.regex(/^[^\s/:@]+$/, "expected the name of a host")))
    .max(100).default([]),
  max_clients: z.int().min(1).max(10_000).default(256),
  tls: z.strictObject({ cert: path, key: path }).optional(),
}).check((context) => {
  const { listen, allow_remote } = context.value;
  const remote = allow_remote ? undefined : remoteProblem(parseListen(listen));
  if (remote === undefined) return;
  const message =
    `${remote}; "allow_remote: true" allows it, with "tls" or behind a proxy that has it`;
  context.issues.push({ code: "custom", input: listen, path: ["listen"], message });
});

const url = z.string().check((context) => {
  const parsed = URL.canParse(context.value) ? new URL(context.value) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) {
    return problem(context, "expected an http:// or https:// URL");
  }
  if (parsed.username + parsed.password !== "") {
    problem(context, 'a user and a password are not sent, sign with "secret" instead');
  }
}).meta({ pattern: "^https?://|\\$\\{" });

/** An entry of `webhooks`. */
export const webhookSchema = z.strictObject({
  name,
  url,
  secret: secret.optional(),
  events: oneOrMore(z.enum(WEBHOOK_EVENTS)).refine((events) => events.length > 0, "is empty")
    .default([...WEBHOOK_EVENTS]),
  only: oneOrMore(text().check(z.minLength(1))).refine((only) => only.length > 0, "is empty")
    .default(["all"]),
  timeout: duration().refine((ms) => ms >= 1, "1ms is the least").default(10_000),
  max_attempts: z.int().min(1).max(100).default(10),
  max_queued: z.int().min(1).max(10_000).default(256),
  retry_delay: duration().refine((ms) => ms >= 1, "1ms is the least").default(1000),
});

/** `web` as it was written, checked and with its defaults. Throws `ConfigFieldError`. */
export function parseWeb(input: unknown): WebSettings {
  const result = webSchema.safeParse(input);
  if (result.success) return result.data;
  throw settingError(result.error.issues, input, webSchema, "web");
}

/** An entry of `webhooks`, the same way; `cwd` is what its secret is against. */
export function parseWebhook(input: Readonly<Record<string, unknown>>, cwd: string): Webhook {
  const result = webhookSchema.safeParse(input);
  if (result.success) return { ...memoryKeys(result.data) as Omit<Webhook, "cwd">, cwd };
  throw settingError(result.error.issues, input, webhookSchema, `webhooks.${input.name}`);
}

/** A webhook as it is written, every default filled in. */
export function webhookWire({ cwd: _, ...webhook }: Webhook): Record<string, unknown> {
  return wireKeys(webhook);
}

function settingError(
  issues: readonly z.core.$ZodIssue[],
  input: unknown,
  schema: z.ZodType,
  where: string,
): ConfigFieldError {
  const issue = innermost(issues.find(({ code }) => code === "unrecognized_keys") ?? issues[0]!);
  const field = [where, ...issue.path].join(".");
  if (issue.code === "unrecognized_keys") {
    const key = issue.keys[0]!;
    const near = didYouMean(key, keysAt(schema, issue.path));
    const advice = near === undefined ? "" : `: did you mean "${near}"?`;
    return new ConfigFieldError(
      `Unknown key "${field}.${key}"${advice}`,
      [...issue.path, key],
      true,
    );
  }
  const value = issue.path.reduce<unknown>((at, key) => (at as never)?.[key], input);
  if (value === undefined) return new ConfigFieldError(`Missing "${field}"`, issue.path);
  // What stands there may be a secret: it is never quoted.
  const hidden = issue.path[0] === "url" || issue.path[0] === "secret";
  const quoted = hidden ? "" : ` ${JSON.stringify(value)}`;
  return new ConfigFieldError(`Invalid "${field}"${quoted}: ${adviceOf(issue, value)}`, issue.path);
}

/** Of a value that may be one or a list: what is wrong with the form that it has. */
function innermost(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== "invalid_union") return issue;
  const inner = issue.errors.flat().find(({ path }) => path.length > 0) ??
    issue.errors.flat().find(({ code }) => code !== "invalid_type");
  return inner === undefined ? issue : { ...inner, path: [...issue.path, ...inner.path] };
}

function adviceOf(issue: z.core.$ZodIssue, value: unknown): string {
  if (issue.path[0] === "secret" && typeof value === "string") {
    return "expected { env: NAME }, { file: PATH } or { command: LINE }";
  }
  if (issue.code !== "invalid_value") return sentence(issue.message);
  const near = typeof value === "string"
    ? didYouMean(value, issue.values.map((known) => String(known)))
    : undefined;
  const known = `expected ${issue.values.join(", ")}`;
  return near === undefined ? known : `did you mean "${near}"?`;
}

function sentence(message: string): string {
  return message
    .replace(/^(Invalid (input|option)|Too (big|small)): /, "")
    .replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
}
