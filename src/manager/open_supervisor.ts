/** Opens a supervisor: takes its home, adopts running processes and guards the home's files. */

import { ifPossible } from "../model/errors.ts";
import { notPermitted, refuseMissingPermissions } from "../platform/users/permissions.ts";
import { checkedConfig, type SupervisorConfig } from "./manager_options.ts";
import { Supervisor } from "./supervisor.ts";
import { takeHome, type TakenHome } from "./take_home.ts";

/**
 * Opens a supervisor on its directory and adopts processes that an earlier one left running. Throws
 * `invalid_config`, `home_unusable`, `home_in_use` if another supervisor uses the directory, and
 * `forbidden` if Deno permissions are missing.
 */
export async function openSupervisor(given: SupervisorConfig): Promise<Supervisor> {
  const config = checkedConfig(given);
  refuseMissingPermissions();
  try {
    return await take(config);
  } catch (error) {
    throw notPermitted(error, "supervise processes") ?? error;
  }
}

async function take(config: SupervisorConfig): Promise<Supervisor> {
  const home = await takeHome(config.logDir);
  let supervisor: Supervisor | undefined;
  try {
    supervisor = new Supervisor(home, config);
    if (config.onNews !== undefined) supervisor.events.listen(config.onNews);
    await supervisor.recover();
    guardHome(home, supervisor, config);
    return supervisor;
  } catch (error) {
    if (supervisor === undefined) home[Symbol.dispose]();
    else supervisor.release();
    throw error;
  }
}

/** Restores removed files of a home until it is released. */
function guardHome(
  home: TakenHome,
  supervisor: Supervisor,
  { onHomeChanged = () => {}, onHomeLost = () => supervisor.release() }: SupervisorConfig,
): void {
  const { system: { files }, warn } = supervisor;
  const { records, run } = home.paths;
  const folders = () => [records, run].map(identityOf).join(" ");
  let seen = folders();
  home.guard({
    changed: () => {
      if (seen !== folders()) {
        warn(`Folders of home "${home.paths.home}" were removed: they are restored`);
        // The next launch reports failures.
        ifPossible(() => files.keep());
        supervisor.recordAnew();
        seen = folders();
      }
      onHomeChanged();
    },
    lost: () => {
      supervisor.abandonRecords();
      onHomeLost();
    },
    warn,
  });
}

/** Identifies a folder. The inode alone is not enough: a new folder may reuse it. */
function identityOf(path: string): string {
  const { ino, birthtime } = Deno.lstatSync(path);
  return `${ino} ${birthtime?.getTime()}`;
}
