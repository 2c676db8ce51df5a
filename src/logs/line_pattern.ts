/**
 * Regular expressions from users, searched for in lines from apps. A backtracking engine may take
 * years for one line, and a single alternation is enough for seconds. So plain text is found by
 * `includes()`, and every expression by RE2's automaton, whose time grows with the line alone. It is
 * loaded with the first expression.
 */

import { type ErrorCode, messageOf, ProcsupError } from "../model/errors.ts";
import { Automaton } from "./scan_line.ts";

/** An expression, once it is ready. */
export interface LinePattern {
  /** Resolves when lines can be scanned. Throws what `linePattern()` throws. */
  ready(): Promise<void>;
  /** Whether a line, without its end, matches. Yields after each bit of work. */
  scan(line: string): Generator<void, boolean>;
}

/** What an expression is called where it is refused. */
export interface PatternName {
  readonly field: string;
  readonly code: ErrorCode;
}

/** Characters of an expression: reading and compiling takes time, too. */
const MAX_LENGTH = 1000;

/** Instructions of a compiled expression: each may cost time for each character of a line. */
const MAX_SIZE = 300;

/** Memory for the states of an automaton. */
const STATE_BYTES = 256 * 1024;

/** What RE2 does not have: to match them may take for ever. */
const UNBOUNDED = /\(\?<?[=!]|\\[1-9]|\\k</;

/** An expression without any operator, and an escape in it. */
const LITERAL = /^(?:[^\\^$.*+?()[\]{}|]|\\[\\^$.*+?()[\]{}|/])*$/;
const ESCAPE = /\\(.)/g;

/**
 * Reads an expression. One that is a `RegExp` already comes from the program that we are a part of,
 * and is taken as it is. Throws the error of `name`, at once or from `ready()`, with the expression.
 */
export function linePattern(source: string | RegExp, name: PatternName): LinePattern {
  if (typeof source !== "string") {
    // Without the flags g and y, which remember where the last match was.
    const own = new RegExp(source.source, source.flags.replace(/[gy]/g, ""));
    return new SimplePattern((line) => own.test(line));
  }
  if (source.length > MAX_LENGTH) {
    throw refusal(source, name, `it is longer than ${MAX_LENGTH} characters`);
  }
  const literal = literalOf(source);
  if (literal !== undefined) return new SimplePattern((line) => line.includes(literal));
  return new LinearPattern(source, name);
}

/** The text that an expression stands for; undefined when it stands for more than one. */
export function literalOf(source: string): string | undefined {
  return LITERAL.test(source) ? source.replace(ESCAPE, "$1") : undefined;
}

class SimplePattern implements LinePattern {
  readonly #test: (line: string) => boolean;

  constructor(test: (line: string) => boolean) {
    this.#test = test;
  }

  ready(): Promise<void> {
    return Promise.resolve();
  }

  // deno-lint-ignore require-yield
  *scan(line: string): Generator<void, boolean> {
    return this.#test(line);
  }
}

class LinearPattern implements LinePattern {
  readonly #source: string;
  readonly #name: PatternName;
  #automaton: Automaton | undefined;

  constructor(source: string, name: PatternName) {
    try {
      new RegExp(source);
    } catch (error) {
      throw refusal(source, name, messageOf(error));
    }
    this.#source = source;
    this.#name = name;
  }

  async ready(): Promise<void> {
    if (this.#automaton !== undefined) return;
    const { RE2JS } = await import("../npm/re2js.ts");
    try {
      const compiled = RE2JS.compile(RE2JS.translateRegExp(this.#source));
      if (compiled.programSize() > MAX_SIZE) throw new Error("it is too large");
      this.#automaton = new Automaton(compiled.re2Input, STATE_BYTES);
    } catch (error) {
      throw refusal(this.#source, this.#name, reasonOf(this.#source, error));
    }
  }

  scan(line: string): Generator<void, boolean> {
    return this.#automaton!.scan(line);
  }
}

function reasonOf(source: string, error: unknown): string {
  if (UNBOUNDED.test(source)) {
    return "look-around and back references are not taken, for they may take for ever";
  }
  return messageOf(error).replace(/^error parsing regexp: /, "");
}

function refusal(source: string, { field, code }: PatternName, why: string): ProcsupError {
  const shown = source.length > 100 ? `${source.slice(0, 100)}…` : source;
  return new ProcsupError(code, `Invalid "${field}" "${shown}": ${why}`);
}
