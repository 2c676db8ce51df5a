/** Verbs that answer about one process, asked about each one that a target means. */

import { ProcsupError } from "../model/errors.ts";
import type { ProcessJson } from "./wire.ts";

/**
 * The answer about a target, or one about each process where it means several: every instance of an
 * app, a namespace, a tag. Only then it requests the list. Otherwise throws what `ask` throws.
 */
export async function askEachMatch<T>(
  target: string,
  ask: (target: string) => Promise<T>,
  list: () => Promise<readonly ProcessJson[]>,
): Promise<T[]> {
  try {
    return [await ask(target)];
  } catch (error) {
    if (!(error instanceof ProcsupError) || error.code !== "ambiguous_target") throw error;
    const { selectProcesses } = await import("./select_processes.ts");
    const found = selectProcesses(await list(), [target]);
    return await Promise.all(found.map(({ name }) => ask(name)));
  }
}
