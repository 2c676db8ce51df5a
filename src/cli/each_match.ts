/** Questions about one process, asked with a target that may mean several. */

import { ProcsupError } from "../model/errors.ts";
import type { DaemonClient } from "../protocol/daemon_client.ts";

/**
 * The answer about the target, or one about each process where it means several: every instance of
 * an app, a namespace, a tag. Only then the list is needed. Throws what `ask` throws, but for that.
 */
export async function askEachMatch<T>(
  client: DaemonClient,
  target: string,
  ask: (target: string) => Promise<T>,
): Promise<T[]> {
  try {
    return [await ask(target)];
  } catch (error) {
    if (!(error instanceof ProcsupError) || error.code !== "ambiguous_target") throw error;
    const { selectProcesses } = await import("../protocol/select_processes.ts");
    const found = selectProcesses(await client.call("list"), [target]);
    return await Promise.all(found.map(({ name }) => ask(name)));
  }
}
