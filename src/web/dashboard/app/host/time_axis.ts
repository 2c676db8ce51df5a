/** The labels of a time axis, at round times of the browser's time zone, and its marks. Pure. */

/** Height of the labels. */
export const AXIS_HEIGHT = 18;

const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000];

/** Distances between labels that people count in. */
const STEPS = [
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 7, 14, 30, 90, 365].map((count) => count * DAY),
];

/** Round times in a range, at most `most`. */
export function ticksIn(from: number, to: number, most: number): readonly number[] {
  const least = (to - from) / Math.max(1, most);
  const step = STEPS.find((one) => one >= least) ?? STEPS.at(-1)!;
  const offsetAt = (at: number) => new Date(at).getTimezoneOffset() * MINUTE;
  // Local midnight is round, also where the offset changes within the range.
  const round = (at: number) => {
    const local = Math.ceil((at - offsetAt(at)) / step) * step;
    return local + offsetAt(local + offsetAt(at));
  };
  const ticks: number[] = [];
  for (let at = round(from); at <= to; at = Math.max(round(at + step), at + 1)) ticks.push(at);
  // A label at an end would be cut off.
  const edge = (to - from) / Math.max(1, most) / 3;
  return ticks.filter((at) => at - from >= edge && to - at >= edge);
}

const format = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat("en-GB", { hourCycle: "h23", ...options });

const CLOCK = { hour: "2-digit", minute: "2-digit" } as const;
const SECONDS = format({ ...CLOCK, second: "2-digit" });
const MINUTES = format(CLOCK);
const DATES = format({ day: "numeric", month: "short", ...CLOCK });
const DAYS = format({ day: "numeric", month: "short" });

/** How to write the labels of a range that is so long. */
export function tickText(ms: number): (at: number) => string {
  const chosen = ms < 5 * MINUTE ? SECONDS : ms <= DAY ? MINUTES : ms <= 4 * DAY ? DATES : DAYS;
  return (at) => chosen.format(at);
}

export interface Mark {
  readonly at: number;
  readonly kind: "start" | "end" | "failure";
  readonly text: string;
}

/** Marks that do not cover each other: one of each kind in a step of time. */
export function apart(marks: readonly Mark[], step: number): readonly Mark[] {
  const steps = Map.groupBy(marks, ({ kind, at }) => `${kind} ${Math.floor(at / step)}`);
  return [...steps.values()].map(([first, ...more]) =>
    more.length === 0 ? first! : { ...first!, text: `${first!.text}, and ${more.length} more` }
  );
}
