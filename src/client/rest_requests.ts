/** REST requests of the verbs, from the registry. Pure. */

import { notFound } from "../model/target.ts";
import type { VerbName } from "../protocol/verbs/types.ts";
import { REST_ROWS } from "./rest_rows.ts";
import type { Fields } from "./transport.ts";

/** One request, below `/api/v1`. */
export interface RestRequest {
  readonly method: string;
  readonly path: string;
  /** Without undefined fields. */
  readonly query: Fields;
  /** A JSON object. */
  readonly body?: Fields;
}

/** The request for a verb. Throws `process_not_found` for a target that a path cannot contain. */
export function restRequest(name: VerbName, payload: Fields): RestRequest {
  const { bare, requests } = REST_ROWS[name] ?? { bare: "", requests: [] };
  const row = requests.find(({ fixed = {} }) =>
    Object.entries(fixed).every(([field, value]) => payload[field] === value)
  );
  if (row === undefined) throw new Error(`No route of "${name}"`);
  const { method, path, query: names = [], own = [], fixed = {}, hasBody, bodyField } = row;
  const taken = [...names, ...Object.keys(fixed), ...(path.includes("{") ? [bare] : [])];
  const left = pick(payload, (field) => !taken.includes(field));
  return {
    method,
    path: path.replace(/\{\w+\}/, () => word(payload[bare])),
    query: {
      ...Object.fromEntries(own.map((field) => [field, "own"])),
      ...pick(payload, (field, value) => names.includes(field) && value !== undefined),
    },
    ...(hasBody ? { body: bodyField ? payload[bodyField] as Fields : left } : {}),
  };
}

function pick(payload: Fields, isWanted: (field: string, value: unknown) => boolean): Fields {
  return Object.fromEntries(
    Object.entries(payload).filter(([field, value]) => isWanted(field, value)),
  );
}

/** A target as one segment of a path. */
function word(target: unknown): string {
  const text = String(target);
  // URLs resolve these as folders, even encoded. No process has such a name.
  if (text === "." || text === "..") throw notFound(text, []);
  return encodeURIComponent(text);
}
