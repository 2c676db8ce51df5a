/** Numbers and times for people, and what people type. Pure. */

import { humanBytes } from "../../../../model/size.ts";

/** `1536` → `1.5 KB`. */
export function bytes(count: number): string {
  return humanBytes(count, 99.95);
}

/** `12.34` → `12.3 %`. */
export function percent(value: number): string {
  return `${value >= 99.95 ? Math.round(value) : value.toFixed(1)} %`;
}

/** `99.987` → `99.98 %`: rounded down, so that only 100 is shown as 100 %. */
export function exactPercent(value: number): string {
  return `${value >= 100 ? 100 : (Math.floor(value * 100) / 100).toFixed(2)} %`;
}

/** `93_784_000` → `1d 2h`: the two largest units. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "m"],
    [seconds % 60, "s"],
  ];
  const first = parts.findIndex(([count]) => count > 0);
  if (first < 0) return "0s";
  return parts.slice(first, first + 2).filter(([count]) => count > 0)
    .map(([count, unit]) => `${count}${unit}`).join(" ");
}

/** `0.4` → `0.4 ms`, `1234` → `1.2 s`, `75_000` → `1m 15s`. */
export function shortSpan(ms: number): string {
  if (ms < 1) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : span(ms);
}

/** How long ago, roughly, or how long until: `2m ago`, `in 1m 5s`. */
export function relative(at: number, now: number): string {
  const ms = at - now;
  if (Math.abs(ms) < 1000) return "now";
  return ms < 0 ? `${span(-ms).split(" ")[0]} ago` : `in ${span(ms)}`;
}

const time = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium", hourCycle: "h23" });
const date = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium" });

/** `14:03:59`. */
export function clockTime(at: number): string {
  return Number.isFinite(at) ? time.format(at) : "–";
}

/** `14:03:59.120`. */
export function exactTime(at: number): string {
  if (!Number.isFinite(at)) return "–";
  return `${time.format(at)}.${String(at % 1000).padStart(3, "0").slice(0, 3)}`;
}

/** `21 Nov 2026, 14:03:59 CET`. */
export function dateTime(at: number): string {
  return Number.isFinite(at) ? `${date.format(at)}, ${time.format(at)} ${zoneAt(at)}` : "–";
}

const zone = new Intl.DateTimeFormat("en-GB", { timeZoneName: "short" });

/** The time zone of all times that the page shows, as it is at a moment: `CET`, `GMT+2`. */
export function zoneAt(at: number): string {
  return zone.formatToParts(at).find(({ type }) => type === "timeZoneName")?.value ?? "";
}

/** `14:03:59` for a moment on the day of another, otherwise with its date. */
export function momentText(at: number, now: number): string {
  return date.format(at) === date.format(now) ? clockTime(at) : dateTime(at);
}

/** `1 process`, `3 processes`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

/** How a run ended, in words. */
export function exitText({ code, signal }: { code: number | null; signal: string | null }): string {
  if (signal !== null) return `ended by ${signal}`;
  return code === null ? "unknown exit code" : `exit code ${code}`;
}

export class FieldError extends Error {
  readonly field: string;

  constructor(field: string, problem: string) {
    super(`Invalid "${field}": ${problem}`);
    this.field = field;
  }
}

/** The lines of a text, trimmed, without empty ones. */
export function linesOf(text: string): string[] {
  return text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
}

/** Parses `KEY=value` lines. Throws for an invalid line. */
export function readEnv(text: string, field: string): Record<string, string> {
  const lines = linesOf(text).filter((line) => !line.startsWith("#"));
  return Object.fromEntries(lines.map((line) => {
    const at = line.indexOf("=");
    if (at < 1) throw new FieldError(field, `${JSON.stringify(line)} is not KEY=value`);
    return [line.slice(0, at), line.slice(at + 1)];
  }));
}

/** The kind of credential in a text; undefined if it has none. */
export function credentialIn(
  text: string,
): { kind: "code" | "token" | "either"; text: string } | undefined {
  const given = text.trim();
  const code = /[?&]code=([0-9a-f]+)/i.exec(given)?.[1];
  if (code !== undefined) return { kind: "code", text: code };
  if (/^ps_[0-9a-f]+$/i.test(given)) return { kind: "token", text: given };
  // The daemon's own token looks like a code.
  return /^[\w-]+$/.test(given) ? { kind: "either", text: given } : undefined;
}
