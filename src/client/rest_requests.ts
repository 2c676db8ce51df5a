/** How each verb is requested over REST, by the registry. Pure. */

import { notFound } from "../model/target.ts";
import { type VerbName, VERBS } from "../protocol/verbs/mod.ts";
import type { RestRow, Verb } from "../protocol/verbs/verb.ts";
import type { Fields } from "./transport.ts";

/** One request, below `/api/v1`. */
export interface RestRequest {
  readonly method: RestRow["method"];
  readonly path: string;
  /** What is undefined is left out. */
  readonly query: Fields;
  /** A JSON object. */
  readonly body?: Fields;
}

/** The request for a verb. Throws `process_not_found` for a target that no path can hold. */
export function restRequest(name: VerbName, payload: Fields): RestRequest {
  const { rest = [], bare = "" }: Verb = VERBS[name];
  const row = rest.find(({ fixed = {} }) =>
    Object.entries(fixed).every(([field, value]) => payload[field] === value)
  );
  if (row === undefined) throw new Error(`No route of "${name}"`);
  const { method, path, query: names = [], defaults = {}, fixed = {}, body, bodyField } = row;
  const own = Object.fromEntries(Object.keys(defaults).map((field) => [field, "own"]));
  const taken = [...names, ...Object.keys(fixed), ...(path.includes("{") ? [bare] : [])];
  const left = pick(payload, (field) => !taken.includes(field));
  return {
    method,
    path: path.replace(/\{\w+\}/, () => word(payload[bare])),
    query: {
      ...own,
      ...pick(payload, (field, value) => names.includes(field) && value !== undefined),
    },
    ...(body === undefined ? {} : { body: bodyField ? payload[bodyField] as Fields : left }),
  };
}

function pick(payload: Fields, isWanted: (field: string, value: unknown) => boolean): Fields {
  return Object.fromEntries(
    Object.entries(payload).filter(([field, value]) => isWanted(field, value)),
  );
}

/** A target as one word of a path. */
function word(target: unknown): string {
  const text = String(target);
  // They mean this folder and the one above, however they are written, and no process is called so.
  if (text === "." || text === "..") throw notFound(text, []);
  return encodeURIComponent(text);
}
