/** `restart` with flags of `start`: changes the configuration and restarts all targets. */

import { ProcsupError } from "../model/errors.ts";
import { baseName } from "../model/name.ts";
import { shellEnvironment } from "../platform/inherited_environment.ts";
import type { ActionResult, BulkResult, ProcessJson } from "../protocol/wire.ts";
import type { DaemonClient } from "../protocol/daemon_client.ts";
import type { CommandContext } from "./command.ts";
import { configKeys, some } from "./config_flags.ts";
import { forEachTarget } from "./results.ts";
import { selectProcesses } from "../protocol/select_processes.ts";
import { placeOf } from "./place.ts";
import { UPDATE_ENV } from "./table/make_flags.ts";

/**
 * Changes the configuration of each target, app by app, and restarts processes that the change did
 * not restart. If the new configuration does not come up, the old one is restored.
 */
export async function restartChanged(context: CommandContext, wait: boolean): Promise<number> {
  const { flags, rest } = context;
  if (context.host !== undefined && flags.on(UPDATE_ENV.name)) {
    throw new ProcsupError("bad_request", `Cannot use --${UPDATE_ENV.name} with --host`, {
      hint: "This shell's environment is not that machine's: name variables by -e",
    });
  }
  const keys = { ...configKeys(await placeOf(context)), ...some("args", rest ?? []) };
  return await forEachTarget(context, async (client, target) => {
    const found = selectProcesses(await client.call("list"), [target]);
    const apps = [...Map.groupBy(found, ({ name }) => baseName(name))];
    const results: ActionResult[] = [];
    for (const [name, processes] of apps) {
      const own = apps.length === 1 ? target : name;
      const config = flags.on(UPDATE_ENV.name)
        ? { ...keys, shell_env: shellPatch(processes[0]!) }
        : keys;
      const change = { target: own, config, wait_ready: wait };
      results.push(...await restartApp(context, client, change, processes, wait));
    }
    return { status: "restarted", results };
  });
}

/** A merge patch that replaces the recorded environment with that of this shell. */
function shellPatch({ config }: ProcessJson): Record<string, string | null> {
  const gone = Object.keys(config.shell_env ?? {}).map((name) => [name, null]);
  return { ...Object.fromEntries(gone), ...shellEnvironment() };
}

async function restartApp(
  { output }: CommandContext,
  client: DaemonClient,
  change: { readonly target: string; readonly config: Record<string, unknown> },
  before: readonly ProcessJson[],
  wait: boolean,
): Promise<BulkResult["results"]> {
  const { results, rolled_back } = await client.call("reconfigure", change);
  if (rolled_back) output.note(`${change.target}: the old configuration is on all of them again`);
  if (results.some(({ ok }) => !ok)) return results;
  const pids = new Map(before.map(({ id, pid }) => [id, pid]));
  // Processes that are stopped, or took the change while running, were not restarted.
  const kept = results.filter(({ id, pid }) => pids.get(id) === pid);
  const restarted = await Promise.all(
    kept.map(({ name }) => client.call("restart", { target: name, wait })),
  );
  const again = restarted.flatMap((bulk) => bulk.results);
  return results.map((result) => again.find(({ id }) => id === result.id) ?? result);
}
