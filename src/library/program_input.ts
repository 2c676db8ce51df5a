/** What a program gives: refuses options that would be ignored or misread, completes configurations. */

import { nearestWord, withNearest } from "../model/nearest_word.ts";
import { type ErrorCode, ProcsupError, quote } from "../model/errors.ts";
import { type DurationInput, durationProblem } from "../model/duration.ts";
import { isMap, type Keyed, mergePatch, onlyGiven } from "../model/merge_patch.ts";
import type {
  CallOptions,
  ConfigSet,
  LineOptions,
  RollingOptions,
  RunOptions,
  SaveOptions,
  StartOptions,
  StopOptions,
  WaitOptions,
} from "./options.ts";
import type { ProcessConfigInput } from "../model/config_input.ts";
import { dirname } from "@std/path";
import { absolute } from "../platform/files/paths.ts";

/** Throws if the value is not an object, or for its first unknown key. */
export function refuseUnknown(
  what: string,
  given: unknown,
  known: readonly string[],
  code: ErrorCode = "invalid_config",
): void {
  if (!isMap(given)) {
    throw new ProcsupError(code, `Invalid ${what} ${quote(given)}: expected an object`);
  }
  const key = Object.keys(given).find((name) => !known.includes(name));
  if (key === undefined) return;
  throw new ProcsupError(code, withNearest(`Unknown key "${key}"`, nearestWord(key, known)));
}

interface Kinds {
  call: CallOptions;
  start: StartOptions;
  stop: StopOptions;
  wait: WaitOptions;
  run: RunOptions;
  rolling: RollingOptions;
  save: SaveOptions;
  lines: LineOptions;
}

/** The options of everything that reads a log. */
export const READING_KEYS = [
  ...["tail", "follow", "newOnly", "signal"] as const,
  ...["since", "until", "grep", "invert", "ignoreCase", "level"] as const,
] as const;

/** The options of a rolling reload. */
export const ROLLING_KEYS = ["batchSize", "waitReady", "rollbackOnFailure", "signal"] as const;

const KEYS: { readonly [K in keyof Kinds]: readonly (keyof Kinds[K])[] } = {
  call: ["signal"],
  start: ["wait", "signal"],
  stop: ["force", "timeout", "signal"],
  wait: ["for", "timeout", "signal"],
  run: ["timeout", "signal"],
  rolling: ROLLING_KEYS,
  save: ["allowEmpty", "signal"],
  lines: [...READING_KEYS, "stream"],
};

/** Options that are true or false, of every call. */
const FLAGS: ReadonlySet<string> = new Set([
  ...["allowEmpty", "follow", "force", "ignoreCase", "invert", "newOnly", "replace"],
  ...["rollbackOnFailure", "stderr", "wait", "waitReady"],
]);

/** The options of one kind of call. Throws `bad_request`, see `checkOptions()`. */
export function optionsOf<K extends keyof Kinds>(kind: K, given: Kinds[K]): Kinds[K] {
  return checkOptions(given, KEYS[kind]);
}

/** Throws `bad_request` for an unknown option, or one with a wrong value. */
export function checkOptions<T extends object>(given: T, known: readonly string[]): T {
  refuseUnknown("options", given, known, "bad_request");
  for (const [key, value] of Object.entries(given)) {
    const problem = value === undefined ? undefined : optionProblem(key, value);
    if (problem === undefined) continue;
    throw new ProcsupError("bad_request", `Invalid "${key}" ${quote(value)}: ${problem}`);
  }
  return given;
}

function optionProblem(key: string, value: unknown): string | undefined {
  if (key === "timeout") return durationProblem(value as DurationInput);
  if (FLAGS.has(key) && typeof value !== "boolean") return "expected true or false";
  return key === "signal" && !(value instanceof AbortSignal)
    ? "expected an AbortSignal"
    : undefined;
}

/** Throws `bad_request` for what cannot be sent to an app. */
export function checkText(text: unknown): void {
  if (typeof text === "string" && text !== "") return;
  throw new ProcsupError("bad_request", `Invalid "text" ${quote(text)}: expected a text`);
}

/** The options of a stop. A plain duration is the time until SIGKILL. Throws `bad_request`. */
export function stopOptions(how: DurationInput | StopOptions): StopOptions {
  return optionsOf("stop", typeof how === "object" ? how : { timeout: how });
}

/** The options that select lines. Throws `bad_request`. */
export function lineOptions(options: LineOptions): LineOptions {
  const { stream } = optionsOf("lines", options);
  checkReading(options);
  if (stream === undefined || stream === "stdout" || stream === "stderr") return options;
  const what = `Invalid "stream" ${quote(stream)}: expected "stdout" or "stderr"`;
  throw new ProcsupError("bad_request", what);
}

/** Throws `bad_request` for invalid options that the log filter does not check. */
export function checkReading(
  { tail, follow, until }: Pick<LineOptions, "tail" | "follow" | "until">,
): void {
  if (tail !== undefined && !(Number.isSafeInteger(tail) && tail >= 0)) {
    throw new ProcsupError(
      "bad_request",
      `Invalid "tail" ${quote(tail)}: expected a number of lines, 0 for all`,
    );
  }
  if (follow && until !== undefined) {
    throw new ProcsupError("bad_request", 'Invalid "until": it cannot be used with "follow"');
  }
}

/** A configuration for each process, over the defaults. Throws `invalid_config`. */
export function configsOf(set: ConfigSet): ProcessConfigInput[] {
  refuseUnknown("configuration", set, ["defaults", "processes"]);
  const { defaults = {}, processes } = set;
  checkMap('"defaults"', defaults);
  checkMap('"processes"', processes);
  return Object.entries(processes).map(([name, config]) => {
    checkMap(`"processes.${name}"`, config);
    // `name` comes last: the key of the map is the name.
    return { ...mergePatch(defaults, onlyGiven(config)), name } as ProcessConfigInput;
  });
}

function checkMap(what: string, value: unknown): void {
  if (isMap(value)) return;
  const message = `Invalid ${what} ${quote(value)}: expected an object`;
  throw new ProcsupError("invalid_config", message);
}

/**
 * Makes `cwd` of a configuration in wire form absolute. Without one, a script runs in its own
 * folder, where the files that identify its runtime are; anything else in the current directory.
 */
export function inScriptFolder(wire: Keyed): Keyed {
  const { cwd } = wire;
  if (cwd !== undefined) {
    return { ...wire, cwd: typeof cwd === "string" && cwd !== "" ? absolute(cwd) : cwd };
  }
  const key = ["script", "entrypoint"].find((name) => isScript(name, wire[name]));
  if (key === undefined) return { ...wire, cwd: absolute(".") };
  const script = absolute(String(wire[key]));
  return { ...wire, [key]: script, cwd: dirname(script) };
}

/** True for a script. An entrypoint may also be a program: it needs a file extension. */
function isScript(key: string, value: unknown): boolean {
  if (typeof value !== "string" || !value.includes("/")) return false;
  return key === "script" || /\.[a-z]+$/i.test(value);
}
