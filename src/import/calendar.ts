/** Converts calendar expressions and time spans of systemd. */

import { durationProblem } from "../model/duration.ts";
import { EVERY } from "../model/interval_schedule.ts";
import { rowFor } from "./imported.ts";

export interface Schedule {
  readonly schedule: string;
  readonly timezone?: string;
}

const WORDS: Readonly<Record<string, string>> = {
  minutely: "*-*-* *:*:00",
  hourly: "*-*-* *:00:00",
  daily: "*-*-* 00:00:00",
  weekly: "Mon *-*-* 00:00:00",
  monthly: "*-*-01 00:00:00",
  quarterly: "*-01,04,07,10-01 00:00:00",
  semiannually: "*-01,07-01 00:00:00",
  "semi-annually": "*-01,07-01 00:00:00",
  yearly: "*-01-01 00:00:00",
  annually: "*-01-01 00:00:00",
};

const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/** The schedule of `OnCalendar=`; undefined if cron has no such schedule. */
export function cronOf(expression: string): Schedule | undefined {
  const words = expression.trim().split(/\s+/);
  const zone = /^(UTC|[A-Z][A-Za-z_]+\/[\w/+-]+)$/.test(words.at(-1) ?? "")
    ? words.pop()
    : undefined;
  const text = words.join(" ");
  const whole = WORDS[text.toLowerCase()] ?? text;
  const [, days = "", date = "*-*-*", time = "00:00:00"] =
    /^(?:([A-Za-z][A-Za-z,. -]*?),?(?:\s+|$))?([\d*,./~-]+-[\d*,./~-]+)?(?:\s+|^|$)?(?:([\d*,./:]+:[\d*,./:]+))?$/
      .exec(whole) ?? ["", "", "none", ""];
  const parts = date.split("-");
  const [year, month, day] = parts.length === 2 ? ["*", ...parts] : parts;
  if (parts.length > 3 || year !== "*" || date.includes("~")) return undefined;
  const [hour = "*", minute = "0", second = "0"] = time.split(":");
  const fields = [
    field(second, 0, 59),
    field(minute, 0, 59),
    field(hour, 0, 23),
    field(day!, 1, 31),
    field(month!, 1, 12),
    weekdays(days),
  ];
  if (fields.some((one) => one === undefined)) return undefined;
  // systemd wants both days, cron one of them.
  if (fields[3] !== "*" && fields[5] !== "*") return undefined;
  const used = fields[0] === "0" ? fields.slice(1) : fields;
  return { schedule: used.join(" "), ...(zone === undefined ? {} : { timezone: zone }) };
}

/** A list of values, ranges `a..b` and steps `a/n`; undefined if it is not one. */
function field(text: string, least: number, most: number): string | undefined {
  const items = text.split(",").map((item) => {
    const [, from = "", to, step] = /^(\*|\d+)(?:\.\.(\d+))?(?:\/(\d+))?$/.exec(item) ?? [];
    if (from === "") return undefined;
    const numbers = [from, to].filter((one) => one !== undefined && one !== "*").map(Number);
    if (numbers.some((one) => one < least || one > most)) return undefined;
    if (from === "*") return step === undefined ? "*" : `*/${Number(step)}`;
    const range = to === undefined ? `${Number(from)}` : `${Number(from)}-${Number(to)}`;
    if (step === undefined) return range;
    return to !== undefined
      ? `${range}/${Number(step)}`
      : Number(from) === least
      ? `*/${Number(step)}`
      : `${Number(from)}-${most}/${Number(step)}`;
  });
  return items.some((one) => one === undefined) ? undefined : items.join(",");
}

function weekdays(text: string): string | undefined {
  if (text.trim() === "") return "*";
  const number = (name: string) => DAYS.indexOf(name.trim().slice(0, 3).toLowerCase());
  const items = text.split(",").filter((item) => item.trim() !== "").map((item) => {
    const [from, to] = item.split(/\.\.|-/).map(number);
    if (from === -1 || to === -1) return undefined;
    // A week ends with Sunday, which cron also knows as 7.
    return to === undefined ? `${from}` : `${from}-${to < from! ? to + 7 : to}`;
  });
  return items.some((one) => one === undefined) ? undefined : items.join(",");
}

/** `30m` as a schedule; undefined for anything else. */
export function everyInterval(interval: unknown): string | undefined {
  const text = String(interval);
  return durationProblem(text) === undefined ? EVERY + text : undefined;
}

/** Units of systemd's time spans as units of durations, with a factor. */
const UNITS: Readonly<Record<string, readonly [factor: number, unit: string]>> = {
  ...{ us: [1, "us"], usec: [1, "us"], ms: [1, "ms"], msec: [1, "ms"] },
  ...{ s: [1, "s"], sec: [1, "s"], second: [1, "s"], m: [1, "m"], min: [1, "m"], minute: [1, "m"] },
  ...{ h: [1, "h"], hr: [1, "h"], hour: [1, "h"], d: [24, "h"], day: [24, "h"] },
  ...{ w: [168, "h"], week: [168, "h"], M: [730.56, "h"], month: [730.56, "h"] },
  ...{ y: [8766, "h"], year: [8766, "h"] },
};

/** A time span of systemd; without a unit it is in seconds. */
export function span(text: string): string {
  if (isNumber(text)) return `${text}s`;
  if (text === "infinity") return "8760h";
  return text.replace(/\s+/g, "").replace(/([\d.]+)([A-Za-z]+|$)/g, (whole, count, word) => {
    if (word === "") return `${count}s`;
    const [factor, unit] = rowFor(UNITS, word) ?? rowFor(UNITS, word.replace(/s$/, "")) ?? [];
    return factor === undefined ? whole : `${Number(count) * factor}${unit}`;
  });
}

export function isNumber(text: unknown): boolean {
  return /^\d+(\.\d+)?$/.test(String(text));
}
