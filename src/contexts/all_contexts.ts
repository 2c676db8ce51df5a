/** Lists the apps of this machine and of every context, with an error for each failure. */

import { fewAtATime, unlessAborted, withinTime } from "../platform/concurrency.ts";
import { DaemonClient } from "../protocol/daemon_client.ts";
import type { ProcessJson } from "../protocol/wire.ts";
import { type Destination, type Engine, readContexts, THIS_MACHINE } from "./contexts.ts";
import { Host } from "./ssh.ts";

/** Time limit for the answer of a machine. */
const PATIENCE = "15s";

/** Limits concurrent ssh processes: one for each machine. */
const MAX_AT_ONCE = 8;

export interface ContextAnswer<Copy> {
  readonly context: string;
  /** Undefined for this machine. */
  readonly destination: Destination | undefined;
  readonly processes: readonly ProcessJson[];
  /** Copies on an engine. */
  readonly copies: readonly Copy[];
  /** Its dashboard, if other machines reach it. */
  readonly url?: string | undefined;
  /** Why it did not answer. */
  readonly error?: unknown;
}

/** A copy of an app, with the fields that every engine has. */
export type EngineCopy = Pick<ProcessJson, "name" | "ready"> & {
  /** The engine's word. */
  readonly state: string;
  readonly reason: string;
};

/** Lists the copies of the apps of an engine. */
export type CopiesOn<Copy> = (engine: Engine, signal: AbortSignal) => Promise<readonly Copy[]>;

/**
 * Asks the daemon of a home and all contexts, a few at a time. ssh asks for no password. Throws
 * `invalid_config` if the contexts file cannot be read.
 */
export async function askContexts<Copy>(
  home: () => string,
  copiesOn: CopiesOn<Copy>,
): Promise<ContextAnswer<Copy>[]> {
  const all = [[THIS_MACHINE, undefined] as const, ...Object.entries(readContexts().contexts)];
  return await fewAtATime(MAX_AT_ONCE, all, async ([context, destination]) => {
    const ask = async (signal: AbortSignal) => {
      if (destination === undefined) return await processesOf(home(), signal);
      if ("on" in destination) return { copies: await copiesOn(destination, signal) };
      using host = new Host({ name: context, ...destination }, true);
      return await processesOf(host, signal);
    };
    const nothing = { context, destination, processes: [], copies: [] };
    try {
      const inTime = (over?: AbortSignal) => unlessAborted(over, () => ask(over!));
      const what = `${context} does not answer`;
      return { ...nothing, ...await withinTime(what, PATIENCE, undefined, inTime) };
    } catch (error) {
      return { ...nothing, error };
    }
  });
}

async function processesOf(daemon: string | Host, signal: AbortSignal) {
  const client = new DaemonClient(daemon);
  // One after the other: the second request uses the ssh connection of the first.
  const processes = await client.call("list", undefined, { signal });
  const { public_url: url } = await client.call("web_status", undefined, { signal });
  return { processes, url };
}
