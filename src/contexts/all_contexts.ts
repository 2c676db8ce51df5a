/** Lists the apps of this machine and of every context, with an error for each failure. */

import { ProcsupError } from "../model/errors.ts";
import { fewAtATime } from "../platform/concurrency.ts";
import { DaemonClient } from "../protocol/daemon_client.ts";
import type { ProcessJson } from "../protocol/wire.ts";
import { type Destination, type Engine, readContexts, THIS_MACHINE } from "./contexts.ts";
import { Host } from "./ssh.ts";

/** Time limit for the answer of a machine. */
const PATIENCE_MS = 15_000;

/** Limits concurrent ssh processes: one for each machine. */
const MAX_AT_ONCE = 8;

export interface ContextAnswer<Copy> {
  readonly context: string;
  /** Undefined for this machine. */
  readonly destination: Destination | undefined;
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
  const ask = async (
    context: string,
    destination: Destination | undefined,
    signal: AbortSignal,
  ): Promise<Found<Copy>> => {
    if (destination === undefined) return await processesOf(home(), signal);
    if ("on" in destination) return { copies: await copiesOn(destination) };
    using host = new Host({ name: context, ...destination }, true);
    return await processesOf(host, signal);
  };
  const others = Object.entries(readContexts().contexts);
  return await fewAtATime(
    MAX_AT_ONCE,
    [[THIS_MACHINE, undefined], ...others] as const,
    async ([context, destination]) => {
      const nothing = { context, destination, processes: [], copies: [] };
      const signal = AbortSignal.timeout(PATIENCE_MS);
      const late = new Promise<never>((_, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason))
      );
      try {
        return { ...nothing, ...await Promise.race([ask(context, destination, signal), late]) };
      } catch (cause) {
        const text = `${context} does not answer within ${PATIENCE_MS / 1000}s`;
        const error = signal.aborted ? new ProcsupError("timeout", text, { cause }) : cause;
        return { ...nothing, error };
      }
    },
  );
}

async function processesOf(daemon: string | Host, signal: AbortSignal) {
  return { processes: await new DaemonClient(daemon).call("list", undefined, { signal }) };
}
