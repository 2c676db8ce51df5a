/** The form of an app: the keys that most apps set as fields, all others as YAML. Pure. */

import { isMap, type Keyed } from "../../../../model/merge_patch.ts";
import { PROCESS_KEYS } from "../../../../model/process_keys.ts";
import { shellWord, splitWords } from "../../../../model/shell_line.ts";
import { ApiError } from "../data/api.ts";
import { FieldError, readEnv } from "../data/format.ts";

export const FIELDS = [
  ...["entrypoint", "args", "name", "cwd", "env", "instances"] as const,
  ...["restart_policy", "max_memory"] as const,
];

/** `more`: the YAML. */
export type FieldName = (typeof FIELDS)[number] | "more";

export type FormTexts = Readonly<Record<FieldName, string>>;

/** Keys that other requests change, and the environment of the shell: a change leaves them alone. */
export const KEPT = ["name", "instances", "shell_env"] as const;

/** The texts of a configuration. Keys with their default are left out of the YAML. */
export function textsOf(config: Keyed): FormTexts {
  const others = Object.entries(config).filter(([key, value]) =>
    ![...FIELDS, ...KEPT].some((one) => one === key) &&
    JSON.stringify(value) !== JSON.stringify(PROCESS_KEYS[key]?.default)
  );
  return {
    ...Object.fromEntries(FIELDS.map((key) => [key, textOf(config[key])])) as FormTexts,
    more: others.map(([key, value]) => lineOf(key, value)).join("\n"),
  };
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map((word) => shellWord(String(word))).join(" ");
  if (isMap(value)) return Object.entries(value).map(([name, one]) => `${name}=${one}`).join("\n");
  return String(value ?? "");
}

/** JSON is YAML. */
function lineOf(key: string, value: unknown): string {
  return `${key}: ${JSON.stringify(value)}`;
}

/** What was typed as a configuration in YAML, with the keys that the form keeps. Throws `FieldError`. */
export function yamlOf({ more, ...texts }: FormTexts, kept: Keyed = {}): string {
  const given = FIELDS.filter((key) => texts[key].trim() !== "");
  const twice = given.find((key) => new RegExp(`^${key}\\s*:`, "m").test(more));
  if (twice !== undefined) throw new FieldError("more", `"${twice}" has a field of its own`);
  return [
    more,
    ...given.map((key) => lineOf(key, valueOf(key, texts[key].trim()))),
    ...Object.entries(kept).map(([key, value]) => lineOf(key, value)),
  ].join("\n");
}

function valueOf(key: FieldName, text: string): unknown {
  if (key === "args") return splitWords(text);
  if (key === "env") return readEnv(text, key);
  return key === "instances" && /^\d+$/.test(text) ? Number(text) : text;
}

/** The field that an error refers to. */
export function fieldOf(refusal: unknown): FieldName | undefined {
  if (!(refusal instanceof ApiError || refusal instanceof FieldError)) return undefined;
  const [key] = refusal.field?.split(".") ?? [];
  return key === undefined ? undefined : FIELDS.find((one) => one === key) ?? "more";
}
