/** What a line says about itself: its level, and the fields of a JSON line. Pure. */

import type { LogStream } from "../../../../model/log_line.ts";
import type { Level } from "./log_query.ts";

const WORDS: readonly (readonly [Level, RegExp])[] = [
  ["error", /\b(?:error|err|fatal|panic|critical|exception|uncaught|traceback|fail(?:ed|ure)?)\b/i],
  ["warn", /\b(?:warn(?:ing)?|deprecated)\b/i],
  ["debug", /\b(?:debug|trace|verbose)\b/i],
  ["info", /\b(?:info|notice)\b/i],
];

/** Levels as bunyan and pino number them. */
function numbered(level: number): Level {
  return level >= 50 ? "error" : level >= 40 ? "warn" : level >= 30 ? "info" : "debug";
}

/** How grave a line is; undefined when it does not say. `text` is without control sequences. */
export function levelOf(text: string): Level | undefined {
  if (text.startsWith("{")) {
    const level = /"(?:level|lvl|severity|log\.level)"\s*:\s*(?:"([A-Za-z]+)"|(\d+))/.exec(text);
    if (level?.[2] !== undefined) return numbered(Number(level[2]));
    if (level?.[1] !== undefined) return wordLevel(level[1]);
  }
  // Words further on are more likely to be part of the message.
  return wordLevel(text.slice(0, 120));
}

function wordLevel(text: string): Level | undefined {
  return WORDS.find(([, word]) => word.test(text))?.[0];
}

/** Whether a line passes the filter for a level: at least as grave. What does not say is info. */
export function passesLevel(text: string, stream: LogStream, least: Level): boolean {
  const order: readonly Level[] = ["debug", "info", "warn", "error"];
  const level = levelOf(text) ?? (stream === "stderr" ? "warn" : "info");
  return order.indexOf(level) >= order.indexOf(least);
}

/** The fields of a JSON line; undefined for any other line. */
export function jsonFields(text: string): Readonly<Record<string, unknown>> | undefined {
  const trimmed = text.trim();
  if (!trimmed.startsWith("{") || !trimmed.endsWith("}")) return undefined;
  try {
    const value: unknown = JSON.parse(trimmed);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? value as Record<string, unknown>
      : undefined;
  } catch {
    return undefined;
  }
}
