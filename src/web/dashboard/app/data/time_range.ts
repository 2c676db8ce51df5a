/** The daemon's time, and ranges of it in addresses and in requests. */

/** Milliseconds by which the daemon's clock is ahead of the browser's. */
let ahead = 0;

/** The daemon's time. All times that the page shows are the daemon's. */
export function now(): number {
  return Date.now() + ahead;
}

/** Compares the clocks by the date of a response, which is in whole seconds. */
export function compareClocks({ headers }: Response, askedAt: number): void {
  const dated = Date.parse(headers.get("date") ?? "");
  if (Number.isNaN(dated)) return;
  ahead = Math.min(Math.max(ahead, dated - Date.now()), dated + 1000 - askedAt);
}

/** Ranges that end now, by name. */
export const SPANS = {
  "15m": ["Last 15 minutes", 900_000],
  "1h": ["Last hour", 3_600_000],
  "6h": ["Last 6 hours", 21_600_000],
  "24h": ["Last 24 hours", 86_400_000],
  "7d": ["Last 7 days", 604_800_000],
  "30d": ["Last 30 days", 2_592_000_000],
} as const;

export type Span = keyof typeof SPANS;

/** A range of time. All times in milliseconds since the epoch. */
export interface Range {
  /** Name of a range that ends now; undefined for a fixed range. */
  readonly span: Span | undefined;
  /** Start and end of a fixed range; otherwise 0. */
  readonly from: number;
  readonly to: number;
  /** The selected moment in it; 0 for none. */
  readonly at: number;
}

export const NOW: Range = { span: "15m", from: 0, to: 0, at: 0 };
/** Time shown on each side of a selected moment. */
const AROUND_MS = 900_000;

export function between(from: number, to: number, at = 0): Range {
  return { span: undefined, from, to, at };
}

/** The query of a range; empty for the default range. */
export function rangeText({ span, from, to, at }: Range): string {
  const params = new URLSearchParams();
  if (span !== undefined && span !== NOW.span) params.set("range", span);
  for (const [key, value] of Object.entries({ from, to, at })) {
    if (value > 0) params.set(key, new Date(value).toISOString());
  }
  return String(params);
}

/** Reads a range from a query. Ignores invalid values. */
export function readRange(params: URLSearchParams, end = now()): Range {
  const [from, to, at] = ["from", "to", "at"].map((key) => momentIn(params.get(key)));
  const span = Object.keys(SPANS).find((one) => one === params.get("range")) as Span | undefined;
  if (from! > 0 && to! > from!) return between(from!, to!, at!);
  if (at! > 0) {
    return between(at! - AROUND_MS, Math.max(at! + 60_000, Math.min(end, at! + AROUND_MS)), at!);
  }
  return { ...NOW, span: span ?? NOW.span };
}

/** Selects a moment, in the given range if that is fixed and contains it, else in one around it. */
export function lookingAt(at: number, { span, from, to }: Range, end = now()): Range {
  if (span === undefined && at >= from && at <= to) return between(from, to, at);
  const half = span === undefined ? AROUND_MS : Math.min(SPANS[span][1] / 2, AROUND_MS);
  return between(at - half, Math.max(at + 1000, Math.min(end, at + half)), at);
}

export function endsOf({ span, from, to }: Range, end: number): readonly [number, number] {
  return span === undefined ? [from, to] : [end - SPANS[span][1], end];
}

/** The range as the fields of verbs. */
export function sinceUntil({ span, from, to }: Range): { since: string; until?: string } {
  return span === undefined
    ? { since: new Date(from).toISOString(), until: new Date(to).toISOString() }
    : { since: span };
}

/** Parses milliseconds or ISO 8601; 0 if invalid. */
function momentIn(text: string | null): number {
  const at = text === null ? NaN : /^\d+$/.test(text) ? Number(text) : Date.parse(text);
  return Number.isFinite(at) && Math.abs(at) < 8.64e15 ? at : 0;
}
