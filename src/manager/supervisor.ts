/** A manager as the daemon has it: with its fleet, for every verb by target. */

import type { Fleet } from "./fleet.ts";
import { fleetOf, Manager } from "./manager.ts";
import type { SupervisorConfig } from "./manager_options.ts";

/** A manager that shows its fleet; the library's does not. */
export type Supervisor = Manager & { readonly fleet: Fleet };

/** Opens one. Throws what `Manager.open()` does. */
export async function openSupervisor(config: SupervisorConfig): Promise<Supervisor> {
  const manager = await Manager.open(config);
  return Object.assign(manager, { fleet: fleetOf(manager) });
}
