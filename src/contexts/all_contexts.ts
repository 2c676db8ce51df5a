/** Lists the apps of this machine and of every context, with an error for each failure. */

import { ProcsupError } from "../model/errors.ts";
import { DaemonClient } from "../protocol/daemon_client.ts";
import type { ProcessJson } from "../protocol/wire.ts";
import { type Destination, type Engine, readContexts, THIS_MACHINE } from "./contexts.ts";
import { Host } from "./ssh.ts";

/** Time limit for the answer of a machine. */
const PATIENCE_MS = 15_000;

/** Limits concurrent ssh processes: one for each machine. */
const MAX_AT_ONCE = 8;

/** The answer of this machine or of a context. */
export interface ContextAnswer<Copy> {
  readonly context: string;
  /** Undefined for this machine. */
  readonly destination?: Destination;
  readonly processes: readonly ProcessJson[];
  /** Copies on an engine. */
  readonly copies: readonly Copy[];
  /** Why it did not answer. */
  readonly error?: unknown;
}

type Found<Copy> = Partial<Pick<ContextAnswer<Copy>, "processes" | "copies">>;

/**
 * Asks the daemon of a home and all contexts, a few at a time. ssh asks for no password. Throws
 * `invalid_config` if the contexts file cannot be read.
 */
export async function askContexts<Copy>(
  home: () => string,
  copiesOn: (engine: Engine) => Promise<readonly Copy[]>,
): Promise<ContextAnswer<Copy>[]> {
  const others = Object.entries(readContexts().contexts);
  return await fewAtATime([
    () => answered<Copy>({ context: THIS_MACHINE }, (signal) => processesOf(home(), signal)),
    ...others.map(([context, destination]) => () =>
      answered<Copy>(
        { context, destination },
        "on" in destination
          ? async () => ({ copies: await copiesOn(destination) })
          : async (signal) => {
            const host = new Host({ name: context, ...destination }, true);
            try {
              return await processesOf(host, signal);
            } finally {
              host.close();
            }
          },
      )
    ),
  ]);
}

/** Runs a few acts at a time; returns the results in their order. */
async function fewAtATime<T>(acts: readonly (() => Promise<T>)[]): Promise<T[]> {
  const results: T[] = [];
  const rest = acts.entries();
  const work = async () => {
    for (const [index, act] of rest) results[index] = await act();
  };
  await Promise.all(Array.from({ length: MAX_AT_ONCE }, work));
  return results;
}

async function processesOf(daemon: string | Host, signal: AbortSignal) {
  return { processes: await new DaemonClient(daemon).call("list", undefined, { signal }) };
}

async function answered<Copy>(
  who: Pick<ContextAnswer<Copy>, "context" | "destination">,
  find: (signal: AbortSignal) => Promise<Found<Copy>>,
): Promise<ContextAnswer<Copy>> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const nothing = { ...who, processes: [], copies: [] };
  try {
    const late = new Promise<never>((_, reject) =>
      signal.addEventListener("abort", () => reject(signal.reason))
    );
    return { ...nothing, ...await Promise.race([find(signal), late]) };
  } catch (cause) {
    const late = `${who.context} does not answer within ${PATIENCE_MS / 1000}s`;
    const error = signal.aborted ? new ProcsupError("timeout", late, { cause }) : cause;
    return { ...nothing, error };
  }
}
