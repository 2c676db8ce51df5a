/** Lines through the automaton of an expression, in bits of work that hold nothing up. */

import type { RE2JS } from "../npm/re2js.ts";

type Compiled = RE2JS["re2Input"];

/** Units of work between two pauses. A character at a known state is one: they take 0.1 ms. */
const PAUSE_AFTER = 16 * 1024;

/** RE2's names: where a line begins, its end in place of a character, and a match that may begin anywhere. */
const LINE_START = { context: () => 4 };
const END_TEXT = -1;
const UNANCHORED = 0;

/** How far a line has been scanned. */
interface Place {
  at: number;
  state: ReturnType<Compiled["dfa"]["start"]>;
}

/**
 * A compiled expression. The library's own search cannot pause, and takes 0.2 s for 64 KiB with an
 * expression that never comes to the same state twice.
 */
export class Automaton {
  readonly #dfa: Compiled["dfa"];
  readonly #prefilter: Compiled["prefilter"];
  /** Units of work that it takes to find a state that is not known yet. */
  readonly #stepCost: number;
  /** Units of work since the last pause, whatever the line. */
  #work = 0;

  /** `stateBytes` is the memory for the states that it knows: beyond it, they are found again. */
  constructor({ dfa, prefilter, prog }: Compiled, stateBytes: number) {
    dfa.stateBudget = dfa.memBudget = stateBytes;
    this.#dfa = dfa;
    this.#prefilter = prefilter;
    this.#stepCost = 10 * prog.numInst() + dfa.numClasses;
  }

  /** Whether a line matches. Yields at each pause. */
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

  /** Whether the words are in it without which nothing matches. */
  #mayMatch(line: string): boolean {
    return this.#prefilter === null || this.#prefilter.eval({
      hasString: ({ str }: { str: string }) => line.includes(str),
      hasAnyString: (words: Compiled["prefilter"]) =>
        words.automaton16().searchUTF16(line, 0, line.length),
    }, 0);
  }

  /** Goes on until it is known whether the line matches; undefined at a pause. */
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
      // Its memory is full: it forgets all states but this one.
      dfa.step(dfa.resetCache(state), kind, rune, UNANCHORED);
  }
}
