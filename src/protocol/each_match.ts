/** Calls a verb that takes one process for each process that a target matches. */

import { hasCode } from "../model/errors.ts";
import type { ProcessJson } from "./wire.ts";

/**
 * The answer about a target. If it matches several processes (instances of an app, a namespace, a
 * tag), requests the list and returns one answer for each. Throws other errors of `ask`.
 */
export async function askEachMatch<T>(
  target: string,
  ask: (target: string) => Promise<T>,
  list: () => Promise<readonly ProcessJson[]>,
): Promise<T[]> {
  try {
    return [await ask(target)];
  } catch (error) {
    if (!hasCode(error, "ambiguous_target")) throw error;
    const { selectProcesses } = await import("./select_processes.ts");
    const found = selectProcesses(await list(), [target]);
    return await Promise.all(found.map(({ name }) => ask(name)));
  }
}
