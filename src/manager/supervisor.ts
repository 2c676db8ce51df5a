/** A manager as the daemon has it: with its fleet, for every verb by target. */

import type { Fleet } from "./fleet.ts";
import { fleetOf, Manager, type SupervisorConfig } from "./manager.ts";

/** A manager that shows its fleet; the library's does not. */
export type Supervisor = Manager & { readonly fleet: Fleet };

/** Opens one. Throws what `Manager.open()` does. */
export async function openSupervisor(config: SupervisorConfig): Promise<Supervisor> {
  const manager = await Manager.open(config);
  return Object.assign(manager, { fleet: fleetOf(manager) });
}
