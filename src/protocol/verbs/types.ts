/** The types of the verbs, inferred from their schemas. Importing them as types loads no schema library. */

import type * as z from "../../npm/zod.ts";
import type { VerbName, VERBS } from "./mod.ts";
import type { Verb } from "./verb.ts";

export type { VerbName } from "./mod.ts";

type Table = typeof VERBS;

/** A deeply read-only value. */
export type ReadOnly<T> = T extends object ? { readonly [K in keyof T]: ReadOnly<T[K]> } : T;

/** Input of a verb's implementation. */
export type Input<N extends VerbName> = ReadOnly<z.output<Table[N]["input"]>>;

export type Output<N extends VerbName> = ReadOnly<z.output<Table[N]["output"]>>;

/** What a client sends for a verb. */
export type Payload<N extends VerbName> = Table[N] extends Verb<infer I, infer _, infer B>
  ? Fields<z.input<I>> | ([B] extends [string] ? string : never)
  : never;

type Fields<T> = ReadOnly<T> | (Record<never, never> extends T ? undefined : never);

/** The payload and data of every action on the wire. */
export type ActionMap = {
  readonly [N in VerbName]: {
    readonly payload: N extends "start" ? StartPayload : Payload<N>;
    readonly data: Output<N>;
  };
};

/** `start` on the wire: an existing target, or the configuration of a new process. */
export interface StartPayload {
  /** Start these existing processes; of the other fields only `wait` may be given. */
  readonly target?: string;
  /** Answer once the process has stayed up for its `min_uptime`, or failed. Default false. */
  readonly wait?: boolean;
  readonly [key: string]: unknown;
}
