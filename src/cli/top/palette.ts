/** What can be typed after a colon. Pure. */

import { SORT_KEYS, type SortKey } from "./sort.ts";
import { type Verb, VERBS, type Wish } from "./messages.ts";

/** Words that are wishes by themselves. */
const SIMPLE: Readonly<Record<string, Wish>> = {
  logs: { type: "pane", pane: "logs", focus: true },
  details: { type: "pane", pane: "details", focus: true },
  why: { type: "pane", pane: "details", focus: true },
  graph: { type: "pane", pane: "graph" },
  ports: { type: "ports_column" },
  close: { type: "pane", pane: "none" },
  reverse: { type: "reverse" },
  help: { type: "help" },
  quit: { type: "quit" },
};

/** Every first word. */
export const PALETTE_WORDS: readonly string[] = [...VERBS, "sort", ...Object.keys(SIMPLE)];

/** Verbs that take a word before their target. */
const WITH_WORD: ReadonlySet<string> = new Set(["signal", "scale"]);

/** What a line means; a sentence where it means nothing. A verb without a target is for the choice. */
export function parsePalette(line: string): Wish | string {
  const [first = "", ...rest] = line.trim().split(/\s+/);
  if (first === "") return { type: "cancel" };
  if (first === "q") return SIMPLE.quit!;
  const simple = Object.hasOwn(SIMPLE, first) ? SIMPLE[first] : undefined;
  if (simple !== undefined) return rest.length === 0 ? simple : `Unexpected word "${rest[0]}"`;
  if (first === "sort") return sortWish(rest[0]);
  const verb = VERBS.find((verb) => verb === first);
  return verb === undefined ? `Unknown command "${first}"` : verbWish(verb, rest);
}

function verbWish(verb: Verb, rest: readonly string[]): Wish | string {
  const takesWord = WITH_WORD.has(verb);
  const [word, target, more] = takesWord ? rest : [undefined, ...rest];
  if (takesWord && word === undefined) {
    return verb === "scale" ? "scale N [target]: how many?" : "signal NAME [target]: which one?";
  }
  if (more !== undefined) return `Unexpected word "${more}"`;
  return {
    type: "do",
    verb,
    ...(word === undefined ? {} : { word }),
    ...(target === undefined ? {} : { target }),
  };
}

function sortWish(key: string | undefined): Wish | string {
  if (key === undefined) return { type: "sort" };
  const known = SORT_KEYS.find((known) => known === key);
  return known === undefined
    ? `Unknown order "${key}": one of ${SORT_KEYS.join(", ")}`
    : { type: "sort", key: known satisfies SortKey };
}
