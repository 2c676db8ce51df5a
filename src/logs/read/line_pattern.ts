/**
 * Searches lines of apps for regular expressions of users. A backtracking engine may take years for one
 * line. So plain text is found with `includes()`, and expressions run on RE2's automaton, which takes
 * linear time. It is loaded with the first expression.
 */

import { type ErrorCode, messageOf, ProcsupError } from "../../model/errors.ts";
import type { RE2JS } from "re2js";

export interface LinePattern {
  /** Resolves when lines can be scanned. Throws like `linePattern()`. */
  ready(): Promise<void>;
  /** Whether a line, without its end, matches. Yields after each piece of work. */
  scan(line: string): Generator<void, boolean>;
}

/** The field and error code used when an expression is refused. */
interface PatternName {
  readonly field: string;
  readonly code: ErrorCode;
}

/** Maximum length of an expression, since compiling takes time too. */
const MAX_LENGTH = 1000;

/** Maximum number of instructions: each may take time for each character of a line. */
const MAX_SIZE = 300;

/** Memory for the known states of an automaton. Beyond it, states are computed again. */
const STATE_BYTES = 256 * 1024;

/** Syntax that RE2 does not support, because it may take exponential time. */
const UNBOUNDED = /\(\?<?[=!]|\\[1-9]|\\k</;

/** Matches expressions without operators; `ESCAPE` matches the escapes in them. */
const LITERAL = /^(?:[^\\^$.*+?()[\]{}|]|\\[\\^$.*+?()[\]{}|/])*$/;
const ESCAPE = /\\(.)/g;

/**
 * Compiles an expression. A `RegExp` comes from the program that uses the library, and is used as it
 * is. Invalid expressions throw the error of `name`, here or from `ready()`.
 */
export function linePattern(
  source: string | RegExp,
  name: PatternName,
  ignoreCase = false,
): LinePattern {
  if (typeof source !== "string") {
    // Drop the flags g and y, which keep state between matches.
    const flags = source.flags.replace(/[giy]/g, "");
    const own = new RegExp(source.source, source.ignoreCase || ignoreCase ? `${flags}i` : flags);
    return simplePattern((line) => own.test(line));
  }
  if (source.length > MAX_LENGTH) {
    throw refusal(source, name, `it is longer than ${MAX_LENGTH} characters`);
  }
  const literal = ignoreCase ? undefined : literalOf(source);
  if (literal !== undefined) return simplePattern((line) => line.includes(literal));
  return new LinearPattern(source, name, ignoreCase);
}

/** The literal text of an expression without operators; undefined for other expressions. */
export function literalOf(source: string): string | undefined {
  return LITERAL.test(source) ? source.replace(ESCAPE, "$1") : undefined;
}

function simplePattern(test: (line: string) => boolean): LinePattern {
  return {
    ready: () => Promise.resolve(),
    // deno-lint-ignore require-yield
    *scan(line) {
      return test(line);
    },
  };
}

class LinearPattern implements LinePattern {
  readonly #source: string;
  readonly #name: PatternName;
  readonly #ignoreCase: boolean;
  #automaton: Automaton | undefined;

  constructor(source: string, name: PatternName, ignoreCase: boolean) {
    try {
      new RegExp(source);
    } catch (error) {
      throw refusal(source, name, messageOf(error));
    }
    this.#source = source;
    this.#name = name;
    this.#ignoreCase = ignoreCase;
  }

  async ready(): Promise<void> {
    if (this.#automaton !== undefined) return;
    const { RE2JS } = await import("re2js");
    try {
      const flags = this.#ignoreCase ? RE2JS.CASE_INSENSITIVE : 0;
      const compiled = RE2JS.compile(RE2JS.translateRegExp(this.#source), flags);
      if (compiled.programSize() > MAX_SIZE) throw new Error("it is too large");
      this.#automaton = new Automaton(compiled.re2Input);
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
    return "look-around and back references are not supported, because they may take forever";
  }
  return messageOf(error).replace(/^error parsing regexp: /, "");
}

function refusal(source: string, { field, code }: PatternName, why: string): ProcsupError {
  const shown = source.length > 100 ? `${source.slice(0, 100)}…` : source;
  return new ProcsupError(code, `Invalid "${field}" "${shown}": ${why}`);
}

type Compiled = RE2JS["re2Input"];

/** Units of work between two pauses. A step to a known state is one unit; a pause comes every 0.1 ms. */
const PAUSE_AFTER = 16 * 1024;

/**
 * Constants of RE2: a start at the beginning of a line, the end of text in place of a character, and an
 * unanchored match.
 */
const LINE_START = { context: () => 4 };
const END_TEXT = -1;
const UNANCHORED = 0;

interface Place {
  at: number;
  state: ReturnType<Compiled["dfa"]["start"]>;
}

/**
 * Runs a compiled expression. The library's own search cannot pause, and takes 0.2 s for 64 KiB if the
 * expression never reaches the same state twice.
 */
class Automaton {
  readonly #dfa: Compiled["dfa"];
  readonly #prefilter: Compiled["prefilter"];
  /** Units of work for a step to an unknown state. */
  readonly #stepCost: number;
  /** Units of work since the last pause, across lines. */
  #work = 0;

  constructor({ dfa, prefilter, prog }: Compiled) {
    dfa.stateBudget = dfa.memBudget = STATE_BYTES;
    this.#dfa = dfa;
    this.#prefilter = prefilter;
    this.#stepCost = 10 * prog.numInst() + dfa.numClasses;
  }

  *scan(line: string): Generator<void, boolean> {
    if (!this.#mayMatch(line)) return false;
    const place = { at: 0, state: this.#dfa.start(LINE_START, 0) };
    for (;;) {
      const found = this.#go(line, place);
      if (found !== undefined) return found;
      this.#work = 0;
      yield;
    }
  }

  /** Whether the line contains the words that every match needs. */
  #mayMatch(line: string): boolean {
    return this.#prefilter === null || this.#prefilter.eval({
      hasString: ({ str }: { str: string }) => line.includes(str),
      hasAnyString: (words: Compiled["prefilter"]) =>
        words.automaton16().searchUTF16(line, 0, line.length),
    }, 0);
  }

  /** Scans until the result is known; undefined at a pause. */
  #go(line: string, place: Place): boolean | undefined {
    const dfa = this.#dfa;
    const { latin1Class } = dfa;
    let { at, state } = place;
    while (at < line.length) {
      const unit = line.charCodeAt(at);
      const rune = unit < latin1Class.length ? unit : line.codePointAt(at)!;
      const kind = unit < latin1Class.length ? latin1Class[unit]! : dfa.runeClass(rune);
      const known = state.next === null ? null : state.next[kind];
      state = known ?? this.#step(state, kind, rune);
      if (state.isMatch) return true;
      at += rune > 0xffff ? 2 : 1;
      if (++this.#work < PAUSE_AFTER) continue;
      Object.assign(place, { at, state });
      return undefined;
    }
    return this.#step(state, dfa.numClasses, END_TEXT).isMatch;
  }

  #step(state: Place["state"], kind: number, rune: number): Place["state"] {
    const dfa = this.#dfa;
    this.#work += this.#stepCost;
    return dfa.step(state, kind, rune, UNANCHORED) ??
      // The cache is full: keep only this state.
      dfa.step(dfa.resetCache(state), kind, rune, UNANCHORED);
  }
}
