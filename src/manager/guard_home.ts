/** What follows when files of the home are removed under a manager. */

import type { Fleet } from "./fleet.ts";
import type { SupervisorConfig } from "./manager_options.ts";
import { recordBoot } from "./recovery.ts";
import type { SystemWorld } from "./system_world.ts";
import type { TakenHome } from "./take_home.ts";

/** The parts of a manager that have files in its home. */
export interface HomeParts {
  readonly fleet: Fleet;
  readonly system: SystemWorld;
  readonly warn: (message: string) => void;
}

/** Looks after the home of a manager until it is released. */
export function guardHome(
  home: TakenHome,
  { fleet: { registry }, system: { files, launcher }, warn }: HomeParts,
  { onHomeChanged = () => {}, onHomeLost = () => {} }: SupervisorConfig,
): void {
  const { records, run, boot } = home.paths;
  const folders = () => [records, run].map(identityOf).join(" ");
  let seen = folders();
  home.guard({
    changed: () => {
      if (seen !== folders()) {
        warn(`Folders of home "${home.paths.home}" were removed: they are put back`);
        files.keepIfPossible();
        registry.recordAnew();
        recordBoot(registry.writes, boot, launcher.bootId);
        seen = folders();
      }
      onHomeChanged();
    },
    lost: () => {
      registry.abandonRecords();
      onHomeLost();
    },
    warn,
  });
}

/** An inode alone is given again to the next folder. */
function identityOf(path: string): string {
  const { ino, birthtime } = Deno.lstatSync(path);
  return `${ino} ${birthtime?.getTime()}`;
}
