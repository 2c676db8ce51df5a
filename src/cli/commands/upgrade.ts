/** `procsup upgrade`: replaces the daemon by this version while the apps keep running. */

import { messageOf, ProcsupError } from "../../model/errors.ts";
import { shellWord } from "../../model/shell_line.ts";
import { isNewer, VERSION } from "../../protocol/version.ts";
import { removeFile } from "../../platform/files/atomic_file.ts";
import { comesTrue } from "../../platform/clock.ts";
import {
  beginHandover,
  type DaemonRecord,
  handoverEnds,
  keptWords,
  readDaemonRecord,
  refuseNewerState,
} from "../../platform/daemon_record.ts";
import { environmentOfDaemon } from "../../platform/launch/inherited_environment.ts";
import { pathsIn } from "../../platform/files/paths.ts";
import { DaemonClient } from "../../protocol/daemon_client.ts";
import { DAEMON_PATIENCE_MS } from "../../protocol/liveness.ts";
import type { CommandContext } from "../command.ts";
import { releaseDaemon, startDaemon, untilReleased } from "../detach.ts";
import { printData, printDone } from "../output.ts";
import { withNotice } from "../progress.ts";

/** Replaces the daemon, unless it is this build already. */
export async function upgrade({ home, flags, output }: CommandContext): Promise<void> {
  await handoverEnds(pathsIn(home), HANDOVER_PATIENCE);
  const { version } = await new DaemonClient(home, () => {}).call("ping");
  const old = readDaemonRecord(home);
  const same = version === VERSION && old?.words.join("\0") === keptWords(home).join("\0");
  if (same && !flags.on("force")) {
    if (await printData(output, { status: "unchanged", from: version, to: VERSION })) return;
    return output.done(`The daemon is version ${version} already (--force replaces it anyway)`);
  }
  refuseNewerState(home, VERSION);
  if (isNewer(version, VERSION) && !flags.on("force")) {
    throw new ProcsupError(
      "other_version",
      `Cannot upgrade the daemon from version ${version} to the older ${VERSION}`,
      { hint: `Install version ${version} here too, or go back with procsup upgrade --force` },
    );
  }
  const what = `waiting for the daemon of version ${version} to hand over to ${VERSION}`;
  await withNotice(output, what, () => replaceDaemon(home, old));
  const apps = await new DaemonClient(home).call("list");
  const up = apps.filter(({ pid }) => pid > 0).length;
  const done = { status: "upgraded", from: version, to: VERSION };
  const counts = `${up} of ${apps.length} apps up, none restarted`;
  await printDone(output, done, `daemon ${version} → ${VERSION}, ${counts}`);
}

const HANDOVER_PATIENCE = { ms: DAEMON_PATIENCE_MS };
const POLL_MS = 10;

/**
 * Ends the running daemon, keeps its apps, and starts the new daemon. If that fails, starts the old
 * build again and throws `start_failed`. Throws `timeout` if the old daemon does not end.
 */
export async function replaceDaemon(home: string, old: DaemonRecord | undefined): Promise<void> {
  using _handover = await beginHandover(pathsIn(home), HANDOVER_PATIENCE);
  const before = old?.service ? undefined : keepRunning(home, old);
  // Read while it runs: the new daemon has the same, whatever this shell has.
  const env = old && environmentOfDaemon(old.pid);
  const pid = await releaseDaemon(home, { upgrade_to: VERSION });
  if (old?.service) return await restarted(home, old.service, pid);
  await untilReleased(home, pid);
  try {
    await startDaemon(home, { env, killOnFailure: true });
  } catch (error) {
    await rollBack(home, { words: before, env }, error);
  }
  removeFile(keptIn(home));
}

/** The copy of the old executable, for the time of an upgrade. */
function keptIn(home: string): string {
  return `${home}/state/previous-procsup`;
}

/** The command of the old build. Copies its executable, which may have been replaced on disk. */
function keepRunning(home: string, old: DaemonRecord | undefined): readonly string[] | undefined {
  if (old === undefined || old.words.length > 1) return old?.words;
  const kept = keptIn(home);
  try {
    Deno.copyFileSync(`/proc/${old.pid}/exe`, kept);
    Deno.chmodSync(kept, 0o700);
    return [kept];
  } catch {
    return old.words;
  }
}

type Environment = Readonly<Record<string, string>>;

async function rollBack(
  home: string,
  { words, env }: { words: readonly string[] | undefined; env: Environment | undefined },
  cause: unknown,
): Promise<never> {
  const why = `Version ${VERSION} does not start: ${messageOf(cause)}`;
  if (words === undefined) throw new ProcsupError("start_failed", why, { cause });
  try {
    await startDaemon(home, { words, env, killOnFailure: true });
  } catch (error) {
    throw new ProcsupError("start_failed", `${why}; nor does the old one: ${messageOf(error)}`, {
      hint: `The apps keep running without a daemon. Start one: ${
        [...words, "daemon", "--home", home].map(shellWord).join(" ")
      }`,
      cause,
    });
  }
  throw new ProcsupError(
    "start_failed",
    `${why}; the old daemon was restored and no app was affected`,
    {
      hint: `Read its log: tail ${shellWord(`${home}/daemon.log`)}`,
      cause,
    },
  );
}

/** Waits until the service manager has started the new daemon from its own unit. */
async function restarted(home: string, service: string, oldPid: number): Promise<void> {
  const client = new DaemonClient(home, () => {});
  // The old daemon answers until it ends, and may have the same version.
  const answered = async () =>
    readDaemonRecord(home)?.pid !== oldPid &&
    await client.call("ping").then(({ version }) => version === VERSION, () => false);
  if (await comesTrue(answered, { ms: DAEMON_PATIENCE_MS, everyMs: POLL_MS })) return;
  throw new ProcsupError(
    "start_failed",
    `${service} did not start version ${VERSION} on "${home}"`,
    { hint: "Its unit may name another executable: procsup startup status" },
  );
}
