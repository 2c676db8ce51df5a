/** `procsup upgrade`: this program's daemon in the place of the one that runs, under running apps. */

import { ProcsupError } from "../../model/errors.ts";
import { isNewer } from "../../model/version.ts";
import { readDaemonRecord, refuseNewerState } from "../../platform/daemon_record.ts";
import { keptWords } from "../../platform/kept_program.ts";
import { VERSION } from "../../protocol/actions.ts";
import { DaemonClient } from "../../protocol/daemon_client.ts";
import type { CommandContext } from "../command.ts";

/** Replaces the daemon, unless it is this very build already. */
export async function run({ home, flags, output }: CommandContext): Promise<void> {
  const { version } = await new DaemonClient(home, () => {}).call("ping");
  const old = readDaemonRecord(home);
  const same = version === VERSION && old?.words.join("\0") === keptWords(home).join("\0");
  if (same && !flags.on("force")) {
    return output.done(`The daemon is version ${version} already (--force replaces it even so)`);
  }
  refuseNewerState(home, VERSION);
  if (isNewer(version, VERSION) && !flags.on("force")) {
    throw new ProcsupError(
      "other_version",
      `Cannot upgrade the daemon from version ${version} to the older ${VERSION}`,
      { hint: `Install version ${version} here too, or go back with procsup upgrade --force` },
    );
  }
  const { replaceDaemon } = await import("../upgrade/replace_daemon.ts");
  await replaceDaemon(home, old);
  const apps = await new DaemonClient(home).call("list");
  const up = apps.filter(({ pid }) => pid > 0).length;
  output.done(`✔ daemon ${version} → ${VERSION}, ${up} of ${apps.length} apps up, none restarted`);
}
