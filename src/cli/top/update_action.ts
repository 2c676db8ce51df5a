/** Verbs on apps: for whom, and whether to ask first. Pure. */

import { ProcsupError } from "../../model/errors.ts";
import { baseName } from "../../model/name.ts";
import { parseSignal } from "../../model/signal.ts";
import { resolveTarget } from "../../model/target.ts";
import type { ProcessJson } from "../../protocol/process_json.ts";
import { counted } from "../human.ts";
import type { ActionCall, Effect, Verb, Wish } from "./messages.ts";
import { chosen, type TopState } from "./state.ts";
import { noticed } from "./update_news.ts";

/** Verbs that a slip of a finger must not carry out. */
const ASKS: ReadonlySet<Verb> = new Set(["stop", "delete", "flush"]);

/** Verbs on an app with all its instances. */
const ON_BASES: ReadonlySet<Verb> = new Set(["scale", "roll"]);

/** The state, and the call it leads to: at once, or after a question. */
export function acting(
  state: TopState,
  wish: Extract<Wish, { type: "do" }>,
): { state: TopState; effects: readonly Effect[] } {
  const { verb, target } = wish;
  try {
    const processes = target === undefined ? chosen(state) : targeted(target, state.processes);
    const action = callOf(wish, processes);
    if (action.targets.length === 0) return refused(state, `There is no app to ${verb}`);
    const idle: TopState = { ...state, prompt: undefined, notice: undefined };
    if (!ASKS.has(verb)) {
      return { state: { ...idle, marked: new Set() }, effects: [{ type: "act", action }] };
    }
    return {
      state: { ...idle, prompt: { type: "confirm", question: asked(action), action } },
      effects: [],
    };
  } catch (error) {
    if (!(error instanceof ProcsupError)) throw error;
    return refused(state, error.hint ?? error.message);
  }
}

function callOf({ verb, word }: { verb: Verb; word?: string }, processes: readonly ProcessJson[]) {
  const names = processes.map(({ name }) => ON_BASES.has(verb) ? baseName(name) : name);
  const action: ActionCall = { verb, targets: [...new Set(names)] };
  if (verb === "signal") return { ...action, word: parseSignal(word ?? "") };
  return word === undefined ? action : { ...action, word };
}

function targeted(target: string, processes: readonly ProcessJson[]): readonly ProcessJson[] {
  return resolveTarget(
    target,
    processes.map((process) => ({
      ...process,
      numericId: process.numeric_id,
      labels: (process.config.labels ?? {}) as Record<string, string>,
    })),
  );
}

function asked({ verb, targets }: ActionCall): string {
  const whom = targets.length === 1 ? targets[0]! : counted(targets.length, "app");
  const what = verb === "flush" ? `Empty the logs of ${whom}` : `${capital(verb)} ${whom}`;
  return `${what}? [y/N]`;
}

function capital(word: string): string {
  return word[0]!.toUpperCase() + word.slice(1);
}

function refused(state: TopState, text: string): { state: TopState; effects: readonly Effect[] } {
  return { state: noticed({ ...state, prompt: undefined }, text, true), effects: [] };
}
