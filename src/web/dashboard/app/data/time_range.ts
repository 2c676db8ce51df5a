/** A range of time, as an address and the daemon have it. Pure, but for the time. */

/** Ranges that end now, by name. */
export const SPANS = {
  "15m": ["Last 15 minutes", 900_000],
  "1h": ["Last hour", 3_600_000],
  "6h": ["Last 6 hours", 21_600_000],
  "24h": ["Last 24 hours", 86_400_000],
  "7d": ["Last 7 days", 604_800_000],
  "30d": ["Last 30 days", 2_592_000_000],
} as const;

/** Name of one of them. */
export type Span = keyof typeof SPANS;

/** A range of time. All times in milliseconds since the epoch. */
export interface Range {
  /** Its name where it ends now; undefined where it stays. */
  readonly span: Span | undefined;
  /** The two ends; 0 where it ends now. */
  readonly from: number;
  readonly to: number;
  /** The moment in it that is looked at; 0 for none. */
  readonly at: number;
}

/** What is shown unless another is chosen. */
export const NOW: Range = { span: "15m", from: 0, to: 0, at: 0 };
/** What is shown on both sides of a moment. */
const AROUND_MS = 900_000;

/** A range that stays. */
export function between(from: number, to: number, at = 0): Range {
  return { span: undefined, from, to, at };
}

/** The query of a range; empty for the one that is shown unless another is chosen. */
export function rangeText({ span, from, to, at }: Range): string {
  const params = new URLSearchParams();
  if (span !== undefined && span !== NOW.span) params.set("range", span);
  for (const [key, value] of Object.entries({ from, to, at })) {
    if (value > 0) params.set(key, new Date(value).toISOString());
  }
  return String(params);
}

/** Reads one. What makes no sense is left out. */
export function readRange(params: URLSearchParams, now = Date.now()): Range {
  const [from, to, at] = ["from", "to", "at"].map((key) => momentIn(params.get(key)));
  const span = Object.keys(SPANS).find((one) => one === params.get("range")) as Span | undefined;
  if (from! > 0 && to! > from!) return between(from!, to!, at!);
  if (at! > 0) {
    const end = Math.max(at! + 60_000, Math.min(now, at! + AROUND_MS));
    return between(at! - AROUND_MS, end, at!);
  }
  return { ...NOW, span: span ?? NOW.span };
}

/** The same moment in the middle of a range, which is widened if need be. */
export function lookingAt(at: number, { span, from, to }: Range, now = Date.now()): Range {
  if (span === undefined && at >= from && at <= to) return between(from, to, at);
  const half = span === undefined ? AROUND_MS : Math.min(SPANS[span][1] / 2, AROUND_MS);
  return between(at - half, Math.max(at + 1000, Math.min(now, at + half)), at);
}

export function endsOf({ span, from, to }: Range, now: number): readonly [number, number] {
  return span === undefined ? [from, to] : [now - SPANS[span][1], now];
}

/** Query of the daemon's routes for it. */
export function rangeQuery({ span, from, to }: Range): Record<string, string> {
  return span === undefined
    ? { since: new Date(from).toISOString(), until: new Date(to).toISOString() }
    : { since: span };
}

/** Milliseconds, or ISO 8601. */
function momentIn(text: string | null): number {
  const at = text === null ? NaN : /^\d+$/.test(text) ? Number(text) : Date.parse(text);
  return Number.isFinite(at) && Math.abs(at) < 8.64e15 ? at : 0;
}
