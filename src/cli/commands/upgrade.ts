/** `procsup upgrade`: this program's daemon in the place of the one that runs, under running apps. */

import { ProcsupError } from "../../model/errors.ts";
import { readDaemonRecord, STATE_FORMAT } from "../../platform/daemon_record.ts";
import { fixedWords } from "../../platform/own_program.ts";
import { VERSION } from "../../protocol/actions.ts";
import { DaemonClient } from "../../protocol/daemon_client.ts";
import type { CommandContext } from "../command.ts";

/** Replaces the daemon, unless it is this very build already. */
export async function run({ home, flags, output }: CommandContext): Promise<void> {
  const { version } = await new DaemonClient(home, () => {}).call("ping");
  const old = readDaemonRecord(home);
  const same = version === VERSION && old?.words.join("\0") === fixedWords().join("\0");
  if (same && !flags.on("force")) {
    return output.done(`The daemon is version ${version} already (--force replaces it even so)`);
  }
  if (old !== undefined && old.state > STATE_FORMAT) {
    throw new ProcsupError(
      "other_version",
      `Cannot go from version ${version} to ${VERSION}: it does not understand the newer state`,
      { hint: "Nothing was changed. Install the newer version, or start with another --home" },
    );
  }
  const { replaceDaemon } = await import("../upgrade/replace_daemon.ts");
  await replaceDaemon(home, old);
  const apps = await new DaemonClient(home).call("list");
  const up = apps.filter(({ pid }) => pid > 0).length;
  output.done(`✔ daemon ${version} → ${VERSION}, ${up} of ${apps.length} apps up, none restarted`);
}
