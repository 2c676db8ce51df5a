/** The end of a machine, or of a user's session: all is stopped, and comes back with the next daemon. */

import { writeState } from "../platform/state_file.ts";
import type { HomePaths } from "../platform/paths.ts";
import type { Outcome } from "./bulk.ts";
import type { Fleet } from "./fleet.ts";

/** What stands in place of a boot's identity: of that boot nothing was left running. */
export const HALTED = "halted";

/**
 * Stops all, the last one first, and leaves the records as they are: what is up now is wanted up, and
 * is started by the next supervisor of the home, of this boot or of another. A supervisor that is
 * killed half-way has left enough: the next one adopts what still runs, and starts the others.
 */
export async function halt(fleet: Fleet, paths: HomePaths): Promise<Outcome[]> {
  fleet.registry.freeze();
  writeState(paths.boot, HALTED);
  return await fleet.shutDown();
}
