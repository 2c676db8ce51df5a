/** Messages for the issues that zod finds; zod/mini has none. */

import type * as z from "zod/mini";

/** Types by the names that configuration files use. */
const TYPES: Readonly<Record<string, string>> = {
  object: "map",
  record: "map",
  array: "list",
  int: "integer",
};

/** Describes an issue in one phrase. The caller quotes the value. */
export function issueText(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      return `expected ${typeName(issue.expected)}, received ${received(issue.input)}`;
    case "invalid_value":
      return `expected one of ${issue.values.map(String).join(", ")}`;
    case "too_small":
      if (issue.minimum === 1 && issue.origin !== "number") return "must not be empty";
      return `expected ${issue.minimum} or more${unitOf(issue.origin)}`;
    case "too_big":
      return `expected ${issue.maximum} or less${unitOf(issue.origin)}`;
    case "invalid_format":
      return issue.format === "starts_with" ? `must start with "${issue.prefix}"` : undefined;
    case "invalid_union":
      return unionText(issue.errors);
    default:
      return undefined;
  }
}

function unitOf(origin: string): string {
  return origin === "string" ? " characters" : origin === "array" ? " items" : "";
}

function typeName(type: string): string {
  return TYPES[type] ?? type;
}

function received(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "list";
  if (typeof value === "number" && !Number.isInteger(value)) {
    return Number.isFinite(value) ? "a fraction" : String(value);
  }
  return typeName(typeof value);
}

function unionText(branches: readonly (readonly z.core.$ZodIssue[])[]): string {
  const types = branches.flat().flatMap((issue) =>
    issue.code === "invalid_type" && issue.path.length === 0 ? [typeName(issue.expected)] : []
  );
  return `expected ${[...new Set(types)].join(" or ")}`;
}
