/** Parameters of a URL's query: how each is read, and how OpenAPI calls it. Pure. */

import { didYouMean } from "../model/did_you_mean.ts";
import { parseDuration } from "../model/duration.ts";
import { ProcsupError } from "../model/errors.ts";

/** How one parameter is read. */
export interface Parameter {
  readonly schema: Readonly<Record<string, unknown>>;
  readonly help: string;
  /** Used when it is not given. */
  readonly otherwise?: unknown;
  /** Throws `bad_request` for text that makes no sense. */
  readonly read: (text: string, name: string) => unknown;
}

/** Parameters by name. */
export type Parameters = Readonly<Record<string, Parameter>>;

/** `true`, `1`, `false`, `0`; an empty one is as none. A typo must not kill: anything else is refused. */
export function flag(help: string, otherwise?: boolean): Parameter {
  return {
    schema: { type: "boolean", default: otherwise ?? false },
    help,
    ...(otherwise === undefined ? {} : { otherwise }),
    read(text, name) {
      if (text === "") return otherwise;
      if (text === "true" || text === "1") return true;
      if (text === "false" || text === "0") return false;
      throw invalid(name, text, "expected true or false");
    },
  };
}

/** A Go duration. */
export function durationText(help: string, otherwise?: string): Parameter {
  return {
    schema: { type: "string", format: "duration", ...given({ default: otherwise }) },
    help,
    ...given({ otherwise }),
    read(text, name) {
      try {
        parseDuration(text);
      } catch {
        throw invalid(name, text, 'expected a number with a unit, such as "5s" or "200ms"');
      }
      return text;
    },
  };
}

/** The same, or the word `own`: none is given then, and each process has its own. */
export function ownOrDuration(help: string, otherwise: string): Parameter {
  const { schema, read } = durationText(help, otherwise);
  return {
    schema: { oneOf: [{ const: "own" }, schema], default: otherwise },
    help,
    otherwise,
    read: (text, name) => text === "own" ? undefined : read(text, name),
  };
}

/** A whole number. */
export function wholeNumber(help: string, most: number, otherwise?: number): Parameter {
  return {
    schema: { type: "integer", minimum: 0, maximum: most, ...given({ default: otherwise }) },
    help,
    ...given({ otherwise }),
    read(text, name) {
      if (/^\d{1,15}$/.test(text) && Number(text) <= most) return Number(text);
      throw invalid(name, text, `expected a number from 0 to ${most}`);
    },
  };
}

/** Any text. */
export function words(help: string): Parameter {
  return { schema: { type: "string" }, help, read: (text) => text };
}

/** Every parameter of a query, the defaults filled in. An unknown one is refused when `strict`. */
export function readParameters(
  parameters: Parameters,
  query: URLSearchParams,
  strict: boolean,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  if (strict) { for (const name of query.keys()) refuseUnknown(name, parameters); }
  for (const [name, { read, otherwise }] of Object.entries(parameters)) {
    const text = query.get(name);
    const value = text === null ? otherwise : read(text, name);
    if (value !== undefined) values[name] = value;
  }
  return values;
}

function refuseUnknown(name: string, parameters: Parameters): void {
  if (Object.hasOwn(parameters, name)) return;
  const near = didYouMean(name, Object.keys(parameters));
  throw new ProcsupError(
    "bad_request",
    `Unknown parameter "${name}"` + (near ? `: did you mean "${near}"?` : ""),
  );
}

function invalid(name: string, text: string, expected: string): ProcsupError {
  return new ProcsupError("bad_request", `Invalid "${name}" ${JSON.stringify(text)}: ${expected}`);
}

function given(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/** Of verbs that start something. */
export const WAIT: Parameters = { wait: flag("answer when it is ready, or has failed") };
