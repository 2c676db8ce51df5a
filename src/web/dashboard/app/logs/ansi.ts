/** Colours of terminals as runs of text with class names: never as HTML. Pure. */

import { CONTROLS } from "../../../../model/plain_text.ts";

export interface Run {
  readonly text: string;
  /** Class names; empty for plain text. */
  readonly look: string;
}

interface Look {
  readonly fg: string;
  readonly bg: string;
  readonly more: ReadonlySet<string>;
}

const PLAIN: Look = { fg: "", bg: "", more: new Set() };
const STYLES: Readonly<Record<number, string>> = {
  1: "bold",
  2: "dim",
  3: "italic",
  4: "underline",
  7: "inverse",
  9: "strike",
};
const ENDS: Readonly<Record<number, readonly string[]>> = {
  22: ["bold", "dim"],
  23: ["italic"],
  24: ["underline"],
  27: ["inverse"],
  29: ["strike"],
};
// deno-lint-ignore no-control-regex
const COLOR = /^\x1b\[([0-9;:]*)m$/;
const TAB = "        ";

/** Removes control sequences from a line; tabs become spaces. */
export function plainLine(line: string): string {
  return line.replace(CONTROLS, "").replaceAll("\t", TAB);
}

/** Splits a line into runs. Drops all control sequences except colours. */
export function ansiRuns(line: string): Run[] {
  const runs: Run[] = [];
  let look = PLAIN;
  let from = 0;
  const add = (to: number) => {
    if (to > from) {
      runs.push({ text: line.slice(from, to).replaceAll("\t", TAB), look: names(look) });
    }
  };
  for (const match of line.matchAll(CONTROLS)) {
    add(match.index);
    from = match.index + match[0].length;
    const codes = COLOR.exec(match[0])?.[1];
    if (codes !== undefined) look = changed(look, codes.split(/[;:]/).map(Number));
  }
  add(line.length);
  return runs;
}

function names({ fg, bg, more }: Look): string {
  return [fg && `fg-${fg}`, bg && `bg-${bg}`, ...more].filter((name) => name !== "").join(" ");
}

function changed(before: Look, codes: readonly number[]): Look {
  let look = before;
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i]!;
    if (code === 38 || code === 48) {
      const color = codes[i + 1] === 5 ? indexed(codes[i + 2]) : nearest(codes.slice(i + 2, i + 5));
      i += codes[i + 1] === 5 ? 2 : 4;
      look = code === 38 ? { ...look, fg: color } : { ...look, bg: color };
    } else look = one(look, code);
  }
  return look;
}

function one(look: Look, code: number): Look {
  if (code === 0) return PLAIN;
  const style = STYLES[code];
  if (style !== undefined) return { ...look, more: new Set([...look.more, style]) };
  const ended = ENDS[code];
  if (ended !== undefined) {
    return { ...look, more: new Set([...look.more].filter((name) => !ended.includes(name))) };
  }
  if (code === 39) return { ...look, fg: "" };
  if (code === 49) return { ...look, bg: "" };
  if (code >= 30 && code <= 37) return { ...look, fg: String(code - 30) };
  if (code >= 90 && code <= 97) return { ...look, fg: String(code - 82) };
  if (code >= 40 && code <= 47) return { ...look, bg: String(code - 40) };
  if (code >= 100 && code <= 107) return { ...look, bg: String(code - 92) };
  return look;
}

/** Maps one of 256 colours to the nearest of the 16 that suit both themes. */
function indexed(index = 7): string {
  if (index < 16) return String(index);
  if (index >= 232) {
    const gray = (index - 232) * 10 + 8;
    return nearest([gray, gray, gray]);
  }
  const cube = index - 16;
  const level = (n: number) => n === 0 ? 0 : 55 + n * 40;
  return nearest([level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6)]);
}

function nearest([red = 0, green = 0, blue = 0]: readonly number[]): string {
  const most = Math.max(red, green, blue);
  const least = Math.min(red, green, blue);
  if (most - least < 40) return most < 50 ? "0" : most < 150 ? "8" : most < 220 ? "7" : "15";
  const middle = (most + least) / 2;
  const hue = (red > middle ? 1 : 0) + (green > middle ? 2 : 0) + (blue > middle ? 4 : 0);
  return String(hue + (most > 200 ? 8 : 0));
}
