/**
 * The types of the verbs, inferred from their schemas. Import them as types: then no schema library
 * is loaded.
 */

import type * as z from "../../npm/zod.ts";
import type { VerbName, VERBS } from "./mod.ts";
import type { Verb } from "./verb.ts";

export type { VerbName } from "./mod.ts";

type Table = typeof VERBS;

type ReadOnly<T> = T extends object ? { readonly [K in keyof T]: ReadOnly<T[K]> } : T;

/** What a verb's implementation gets. */
export type Input<N extends VerbName> = ReadOnly<z.output<Table[N]["input"]>>;

/** What a verb answers. */
export type Output<N extends VerbName> = ReadOnly<z.output<Table[N]["output"]>>;

/** What a client sends for a verb. */
export type Payload<N extends VerbName> = Table[N] extends Verb<infer I, infer _, infer B>
  ? Fields<z.input<I>> | ([B] extends [string] ? string : never)
  : never;

type Fields<T> = ReadOnly<T> | (Record<never, never> extends T ? undefined : never);

/** Every action on the wire: its payload and its data. */
export type ActionMap = {
  readonly [N in VerbName]: {
    readonly payload: N extends "start" ? StartPayload : Payload<N>;
    readonly data: Output<N>;
  };
};

/** `start` on the wire: the target to start again, or a new process's configuration. */
export interface StartPayload {
  /** Start these existing processes; no other field but `wait` goes with it. */
  readonly target?: string;
  /** Answer only when the process has stayed up for its `min_uptime`, or failed. Default false. */
  readonly wait?: boolean;
  /** Every configuration key, `name` and `entrypoint` first. */
  readonly [key: string]: unknown;
}
