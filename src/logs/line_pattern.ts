/**
 * Regular expressions that somebody gave us, looked for in lines that somebody else wrote. The
 * engine of JavaScript tries every way to match: `(a+)+$` on a line of forty letters keeps the
 * daemon busy for years. So only an expression without groups and repetitions is left to it, as most
 * words are that people look for. All others are RE2's, whose time grows with the line alone; it is
 * loaded when the first one comes.
 */

import { type ErrorCode, messageOf, ProcsupError } from "../model/errors.ts";

/** An expression, once it is ready. */
export interface LinePattern {
  /** Resolves when lines can be tested. Throws what `linePattern()` throws. */
  ready(): Promise<void>;
  /** Whether a line, without its end, matches. */
  test(line: string): boolean;
}

/** What an expression is called where it is refused. */
export interface PatternName {
  readonly field: string;
  readonly code: ErrorCode;
}

/** More is no expression but a program: each step costs time for each character of a line. */
const MAX_SIZE = 300;

/** Memory for what RE2 has learnt of an expression; beyond it, it goes on more slowly. */
const STATE_BYTES = 256 * 1024;

/** What RE2 does not have: to match them may take for ever. */
const UNBOUNDED = /\(\?<?[=!]|\\[1-9]|\\k</;

/**
 * Reads an expression. One that is a `RegExp` already comes from the program that we are a part of,
 * and is taken as it is. Throws the error of `name`, at once or from `ready()`, with the expression.
 */
export function linePattern(source: string | RegExp, name: PatternName): LinePattern {
  const native = nativePattern(source, name);
  if (typeof source !== "string" || isPlain(source)) {
    return { ready: () => Promise.resolve(), test: (line) => native.test(line) };
  }
  return new LinearPattern(source, name);
}

/** Whether there is nothing to repeat in it, and nothing to choose but between all of it. */
export function isPlain(source: string): boolean {
  const bare = source.replace(/\\[^1-9k]|\[(?:\\.|[^\]\\])*\]/gs, "");
  return !/[(*+?{\\]/.test(bare);
}

class LinearPattern implements LinePattern {
  readonly #source: string;
  readonly #name: PatternName;
  #test: ((line: string) => boolean) | undefined;

  constructor(source: string, name: PatternName) {
    this.#source = source;
    this.#name = name;
  }

  async ready(): Promise<void> {
    if (this.#test !== undefined) return;
    const { RE2JS } = await import("../npm/re2js.ts");
    try {
      const compiled = RE2JS.compile(RE2JS.translateRegExp(this.#source));
      if (compiled.programSize() > MAX_SIZE) throw new Error("it is too large");
      const { dfa } = compiled.re2Input;
      dfa.stateBudget = dfa.memBudget = STATE_BYTES;
      this.#test = (line) => compiled.test(line);
    } catch (error) {
      throw refusal(this.#source, this.#name, reasonOf(this.#source, error));
    }
  }

  test(line: string): boolean {
    return this.#test!(line);
  }
}

function nativePattern(source: string | RegExp, name: PatternName): RegExp {
  try {
    // Without the flags g and y, which remember where the last match was.
    return typeof source === "string"
      ? new RegExp(source)
      : new RegExp(source.source, source.flags.replace(/[gy]/g, ""));
  } catch (error) {
    throw refusal(String(source), name, messageOf(error));
  }
}

function reasonOf(source: string, error: unknown): string {
  if (UNBOUNDED.test(source)) {
    return "look-around and back references are not taken, for they may take for ever";
  }
  return messageOf(error).replace(/^error parsing regexp: /, "");
}

function refusal(source: string, { field, code }: PatternName, why: string): ProcsupError {
  return new ProcsupError(code, `Invalid "${field}" "${source}": ${why}`);
}
