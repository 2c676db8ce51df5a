/** What runs on this machine and in every context, those that do not answer included. */

import { ProcsupError } from "../model/errors.ts";
import { DaemonClient } from "../protocol/daemon_client.ts";
import type { ProcessJson } from "../protocol/wire.ts";
import { type Destination, type Engine, readContexts, THIS_MACHINE } from "./contexts.ts";
import { Host } from "./host.ts";

/** A machine that takes longer counts as one that does not answer. */
const PATIENCE_MS = 15_000;

/** Each machine takes an ssh. */
const MAX_AT_ONCE = 8;

/** What one of them answered. */
export interface ContextAnswer<Copy> {
  readonly context: string;
  /** Undefined for this machine. */
  readonly destination?: Destination;
  readonly processes: readonly ProcessJson[];
  /** What an engine runs. */
  readonly copies: readonly Copy[];
  /** Why it does not answer. */
  readonly error?: unknown;
}

type Found<Copy> = Partial<Pick<ContextAnswer<Copy>, "processes" | "copies">>;

/**
 * Asks the daemon of a home and all contexts, a few at a time. ssh asks for no password. Throws
 * `invalid_config` when the file of the contexts cannot be read.
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
              await host.close();
            }
          },
      )
    ),
  ]);
}

/** The results are in the order of the acts. */
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
