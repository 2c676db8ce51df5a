/** Converts cron expressions to those of systemd, CronJobs and Nomad. */

import { intervalOf } from "../model/interval_schedule.ts";

/** Lists, ranges, steps and names, but no L, W and #, which few cron parsers know. */
const PART = "(\\*|(\\d+|[a-z]{3})(-(\\d+|[a-z]{3}))?)(/\\d+)?";
const FIELD = new RegExp(`^${PART}(,${PART})*$`, "i");

const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

const WORDS: Readonly<Record<string, string>> = {
  "@yearly": "*-01-01 00:00:00",
  "@annually": "*-01-01 00:00:00",
  "@monthly": "*-*-01 00:00:00",
  "@weekly": "Sun *-*-* 00:00:00",
  "@daily": "*-*-* 00:00:00",
  "@midnight": "*-*-* 00:00:00",
  "@hourly": "*-*-* *:00:00",
};

/** Calendar events equivalent to a schedule; undefined if systemd cannot express it. */
export function calendarEvents(schedule: string): string[] | undefined {
  const word = WORDS[schedule.trim().toLowerCase()];
  if (word !== undefined) return [word];
  const fields = fieldsOf(schedule);
  if (!fields.every((field) => FIELD.test(field))) return undefined;
  const [weekday = "*", month = "*", day = "*", hour = "*", minute = "*", second = "0"] = fields
    .toReversed();
  const time = [hour, minute, second].map((field) => range(field, 0)).join(":");
  const at = (days: string, date: string) =>
    `${days === "*" ? "" : `${days} `}*-${range(monthNumbers(month), 1)}-${date} ${time}`;
  const [days, date] = [weekdays(weekday), range(day, 1)];
  if (days === undefined) return undefined;
  // With a weekday and a date, cron runs if either matches, systemd only if both match.
  if (days !== "*" && date !== "*") return [at(days, "*"), at("*", date)];
  return [at(days, date)];
}

/** The five fields of a CronJob, which knows no weekday 7; undefined for L, W and #. */
export function cronJobSchedule(schedule: string): string | undefined {
  if (intervalOf(schedule) !== undefined) return schedule.trim().toLowerCase();
  const fields = fieldsOf(schedule);
  if (fields.length === 1) return fields[0]!.toLowerCase();
  if (!fields.every((field) => FIELD.test(field))) return undefined;
  const days = weekdays(fields.at(-1)!);
  return days && [...fields.slice(-5, -1), days].join(" ");
}

/** The schedule of a Nomad job: with six fields the last one would be the year, so it has seven. */
export function nomadSchedule(schedule: string): string {
  const fields = fieldsOf(schedule);
  if (fields.length === 1) return fields[0]!.toLowerCase().replace("@midnight", "@daily");
  const day = fields.at(-1)!;
  const all = [...fields.slice(0, -1), weekdays(day) ?? day];
  return [...all, ...(all.length === 6 ? ["*"] : [])].join(" ");
}

/** The fields of an expression; a nickname is one. */
function fieldsOf(schedule: string): string[] {
  return schedule.trim().replaceAll("?", "*").split(/\s+/);
}

/** `1-5/2,8` → `1..5/2,8`; `*` with a step starts at `least`. */
function range(field: string, least: number): string {
  return field.split(",").map((part) => part.replace(/^\*\//, `${least}/`).replace("-", ".."))
    .join(",");
}

function monthNumbers(field: string): string {
  return field.replace(/[a-z]{3}/gi, (name) => String(MONTHS.indexOf(name.toLowerCase()) + 1));
}

/** Weekdays by name. systemd has no steps for them, and no ranges across the end of a week. */
function weekdays(field: string): string | undefined {
  if (field === "*") return "*";
  const days = new Set<number>();
  for (const part of field.split(",")) {
    const [, from = "", to, step = "1"] = /^(\*|\w+)(?:-(\w+))?(?:\/(\d+))?$/.exec(part) ?? [];
    const first = from === "*" ? 0 : dayNumber(from);
    const last = from === "*" ? 6 : dayNumber(to ?? from);
    if (first < 0 || last < 0) return undefined;
    for (let day = first; day <= (last < first ? last + 7 : last); day += Number(step)) {
      days.add(day % 7);
    }
  }
  return [...days].sort((a, b) => a - b).map((day) => DAYS[day]).join(",");
}

function dayNumber(text: string): number {
  if (/^[0-7]$/.test(text)) return Number(text);
  return DAYS.findIndex((day) => day.toLowerCase() === text.toLowerCase());
}
