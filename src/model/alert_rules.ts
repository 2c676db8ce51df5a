/** The conditions of alerts: their grammar, when they hold, and when an alert fires. Pure. */

import { durationProblem, formatDuration, parseDuration } from "./duration.ts";
import { didYouMean, nearestWord } from "./nearest_word.ts";
import { humanBytes, parseSize, sizeProblem } from "./size.ts";

/** Where the figures of a condition come from: a process, or the host. */
export type AlertScope = "process" | "host";

type Unit = "percent" | "size" | "count";

interface Figure {
  /** The units that its limit can have. The first applies to a number without a unit. */
  readonly units: readonly Unit[];
  /** Set if it is counted within a time, which the condition must name. */
  readonly isCounted?: true;
}

/** The figures of a process and of the host, under their names in `procsup metrics`. */
const FIGURES: Readonly<Record<AlertScope, Readonly<Record<string, Figure>>>> = {
  process: {
    cpu: { units: ["percent"] },
    memory: { units: ["size", "percent"] },
    threads: { units: ["count"] },
    fds: { units: ["count"] },
    restarts: { units: ["count"], isCounted: true },
  },
  host: {
    cpu: { units: ["percent"] },
    memory: { units: ["size", "percent"] },
    load: { units: ["count"] },
    "disk.free": { units: ["size", "percent"] },
  },
};

/** The condition that a run of a schedule is missing. */
export const OVERDUE = "job overdue";

const OPERATORS = {
  ">": (value: number, limit: number) => value > limit,
  ">=": (value: number, limit: number) => value >= limit,
  "<": (value: number, limit: number) => value < limit,
  "<=": (value: number, limit: number) => value <= limit,
};

type Operator = keyof typeof OPERATORS;

/** Limits of the times in a condition: figures are measured every 10 s, and that is kept for a day. */
const [LEAST_MS, MOST_MS] = [10_000, 24 * 3_600_000];

export interface Condition {
  /** Name of a figure, or `job overdue`. */
  readonly figure: string;
  readonly operator: Operator;
  readonly limit: number;
  readonly unit: Unit;
  /** Time within which a figure is counted; 0 for others. */
  readonly withinMs: number;
  /** Time for which it must hold. */
  readonly forMs: number;
}

interface Word {
  readonly text: string;
  readonly column: number;
}

/** Takes the next word. After the last it returns an empty one, at the column after the text. */
type Take = () => Word;

/** Reads a condition, such as `memory > 400MB for 5m`. Throws a message with the column. */
export function parseCondition(text: string, scope: AlertScope): Condition {
  const take = wordsOf(text);
  const first = take();
  if (first.text === "job" && scope === "process") {
    const word = take();
    if (word.text !== "overdue") refuse(word, `expected "${OVERDUE}"`);
    const limit = { operator: ">", limit: 0, unit: "count", withinMs: 0 } as const;
    return { figure: OVERDUE, ...limit, forMs: forTime(take) };
  }
  const { units, isCounted } = figureOf(first, scope);
  const operator = operatorOf(take());
  const limit = limitOf(take(), units);
  const withinMs = isCounted ? withinTime(take, first.text) : 0;
  return { figure: first.text, operator, ...limit, withinMs, forMs: forTime(take) };
}

function wordsOf(text: string): Take {
  const words: Word[] = [...text.matchAll(/[<>=!]+|[^\s<>=!]+/g)]
    .map(({ 0: text, index }) => ({ text, column: index + 1 }));
  const end = { text: "", column: text.trimEnd().length + 1 };
  return () => words.shift() ?? end;
}

/** The time after `for`; 0 at the end. Nothing may follow. */
function forTime(take: Take): number {
  const word = take();
  if (word.text === "") return 0;
  if (word.text !== "for") refuse(word, 'expected "for" and a duration, or nothing');
  const ms = timeOf(take(), 'a duration after "for", such as "5m"');
  const more = take();
  return more.text === "" ? ms : refuse(more, "expected nothing after the duration");
}

/** The time after `in`. */
function withinTime(take: Take, figure: string): number {
  const word = take();
  if (word.text !== "in") {
    refuse(word, `expected "in" and a duration: ${figure} are counted within it`);
  }
  return timeOf(take(), 'a duration after "in", such as "10m"');
}

function timeOf(word: Word, what: string): number {
  const problem = word.text === "" ? `expected ${what}` : durationProblem(word.text);
  if (problem !== undefined) refuse(word, problem);
  const ms = parseDuration(word.text);
  if (ms >= LEAST_MS && ms <= MOST_MS) return ms;
  return refuse(word, `expected ${formatDuration(LEAST_MS)} to ${formatDuration(MOST_MS)}`);
}

function operatorOf(word: Word): Operator {
  if (Object.hasOwn(OPERATORS, word.text)) return word.text as Operator;
  return refuse(word, "expected >, >=, < or <=");
}

function refuse({ text, column }: Word, why: string): never {
  throw new Error(`column ${column}${text === "" ? "" : `, "${text}"`}: ${why}`);
}

function figureOf(word: Word, scope: AlertScope): Figure {
  const known = FIGURES[scope];
  if (Object.hasOwn(known, word.text)) return known[word.text]!;
  const other = scope === "host" ? "process" : "host";
  const words = [...Object.keys(known), ...scope === "process" ? [OVERDUE] : []];
  const near = nearestWord(word.text, Object.keys(known));
  if (near === undefined && (Object.hasOwn(FIGURES[other], word.text) || word.text === "job")) {
    const place = scope === "process"
      ? "it is a figure of the host, whose alerts are at the top level of a file"
      : "it is one of an app or job, whose alerts are among its keys";
    return refuse(word, place);
  }
  return refuse(word, near ? didYouMean(near) : `expected one of ${words.join(", ")}`);
}

function limitOf(word: Word, units: readonly Unit[]): Pick<Condition, "limit" | "unit"> {
  const number = /^\d+(\.\d+)?/.exec(word.text)?.[0];
  const isPercent = word.text === `${number}%`;
  const [first] = units;
  if (isPercent && units.includes("percent")) return { limit: Number(number), unit: "percent" };
  if (first === "size") {
    const problem = isPercent ? "expected a size" : sizeProblem(word.text);
    if (problem === undefined) return { limit: parseSize(word.text), unit: "size" };
    return refuse(word, word.text === "" ? 'expected a size, such as "400MB", or "80%"' : problem);
  }
  if (word.text === number) return { limit: Number(number), unit: first! };
  return refuse(
    word,
    first === "percent" ? 'expected percent, such as "80%"' : "expected a number",
  );
}

/** Why a condition is invalid; undefined if it is valid. */
export function conditionProblem(text: string, scope: AlertScope): string | undefined {
  try {
    parseCondition(text, scope);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Whether a value fulfils a condition. An unknown one, NaN, does not. */
export function isMet({ operator, limit }: Condition, value: number): boolean {
  return OPERATORS[operator](value, limit);
}

/** The value of a figure as people read it; empty if it is unknown. */
export function valueText({ figure, unit }: Condition, value: number): string {
  if (figure === OVERDUE || Number.isNaN(value)) return "";
  if (unit === "size") return humanBytes(value);
  return `${Number(value.toFixed(2))}${unit === "percent" ? "%" : ""}`;
}

/** By how much a counter grew over its values. A value below the one before it was counted from 0. */
export function growth(values: readonly number[]): number {
  return values.slice(1).reduce((sum, value, index) => {
    const before = values[index]!;
    return sum + (value < before ? value : value - before);
  }, 0);
}

/** The state of an alert. Times are in milliseconds since the epoch. */
export interface AlertState {
  /** Whether its condition holds. */
  readonly met: boolean;
  /** When `met` last changed. */
  readonly since: number;
  /** When it began to fire; null if it does not. */
  readonly firingSince: number | null;
}

export const QUIET: AlertState = { met: false, since: 0, firingSince: null };

/**
 * The next state of an alert. It fires once its condition has held for its time, and is resolved once
 * it has not held for `resolveAfterMs`: a figure that swings about its limit makes one alert.
 */
export function nextState(
  before: AlertState,
  met: boolean,
  at: number,
  { forMs, resolveAfterMs }: { readonly forMs: number; readonly resolveAfterMs: number },
): AlertState {
  // The clock may have been set back.
  const since = met === before.met ? Math.min(before.since, at) : at;
  const { firingSince } = before;
  const held = at - since;
  if (met && firingSince === null && held >= forMs) return { met, since, firingSince: at };
  if (!met && firingSince !== null && held >= resolveAfterMs) {
    return { met, since, firingSince: null };
  }
  return { met, since, firingSince };
}
