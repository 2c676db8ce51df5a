/** The registry of all verbs. Every surface is derived from these rows. */

import { isMap } from "../model/merge_patch.ts";
import { nearestWord, withNearest } from "../model/nearest_word.ts";
import { ProcsupError, quote } from "../model/errors.ts";
import { ALERT_VERBS } from "./alerts/rows.ts";
import { APP_VERBS } from "./apps/rows.ts";
import { PROCESS_VERBS } from "./processes/rows.ts";
import { CONFIG_VERBS } from "./config/rows.ts";
import { CRON_VERBS } from "./cron/rows.ts";
import { DAEMON_VERBS } from "./daemon/rows.ts";
import { INSPECT_VERBS } from "./inspect/rows.ts";
import { LOG_VERBS } from "./logs/rows.ts";
import { readInput } from "./read_input.ts";
import { START_VERBS } from "./start/rows.ts";
import type { RestRow, Verb } from "./verb.ts";
import { WEB_VERBS } from "./web/rows.ts";

export const VERBS = {
  ...INSPECT_VERBS,
  ...LOG_VERBS,
  ...START_VERBS,
  ...PROCESS_VERBS,
  ...APP_VERBS,
  ...CONFIG_VERBS,
  ...ALERT_VERBS,
  ...CRON_VERBS,
  ...DAEMON_VERBS,
  ...WEB_VERBS,
};

export type VerbName = keyof typeof VERBS;

export const VERB_ROWS = Object.entries(VERBS) as readonly (readonly [VerbName, Verb])[];

export const REST_ROWS = VERB_ROWS.flatMap(([name, verb]) =>
  (verb.rest ?? []).map((row): Route => ({ name, verb, row }))
);

export interface Route {
  readonly name: VerbName;
  readonly verb: Verb;
  readonly row: RestRow;
}

/** A request for a verb, before validation. */
export interface Asked {
  readonly name: VerbName;
  readonly verb: Verb;
  readonly payload: unknown;
}

/** The verb of a word on the wire: `start` with a configuration means `add`. Throws `unknown_verb`. */
export function readVerb(word: string, payload: unknown): Asked {
  if (!Object.hasOwn(VERBS, word)) throw unknownVerb(word);
  if (word === "start" && isMap(payload) && !Object.hasOwn(payload, "target")) {
    const { wait, ...config } = payload;
    return { name: "add", verb: VERBS.add, payload: { config, wait } };
  }
  const name = word as VerbName;
  return { name, verb: VERBS[name], payload };
}

/** The validated input of a verb. Throws `bad_request` and `unknown_verb`. */
export function readRequest(
  word: string,
  payload: unknown,
): { readonly name: VerbName; readonly input: unknown } {
  const asked = readVerb(word, payload);
  return { name: asked.name, input: readInput(asked.verb, asked.payload) };
}

function unknownVerb(word: string): ProcsupError {
  const near = nearestWord(word, Object.keys(VERBS));
  const message = withNearest(`Unknown verb ${quote(word)}`, near);
  return new ProcsupError("unknown_verb", message);
}
