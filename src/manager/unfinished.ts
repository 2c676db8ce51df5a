/** What an earlier supervisor of the home was asked for and had not done. */

import { ifPossible } from "../model/errors.ts";
import type { PendingRequest } from "../model/process_state.ts";
import type { ManagedProcess } from "../process/managed_process.ts";
import type { AppDirectory } from "./app_directory.ts";
import { inWaves, type Outcome, reversed, runBulk, runWaves } from "./bulk.ts";
import { applyWaves } from "./check_config.ts";
import type { Removal } from "./removal.ts";

/** Carries it out. Resolves with the outcomes. */
export async function carryOutUnfinished(
  directory: AppDirectory,
  removal: Removal,
): Promise<Outcome[]> {
  const all = directory.list();
  const requests = new Map(all.map((process) => [process, process.snapshot.pending]));
  const left = (verb: PendingRequest["verb"]) =>
    all.filter((process) => requests.get(process)?.verb === verb && !process.isLeaving);
  const carryOut = (process: ManagedProcess) => process.carryOut(requests.get(process)!);
  const outcomes = await Promise.all([
    removal.removeInOrder(all.filter(({ isLeaving }) => isLeaving)),
    runWaves(reversed(inWaves(left("stop"))), carryOut),
    runWaves(inWaves(left("start")), carryOut),
    runBulk([...left("restart"), ...left("reload")], carryOut),
    // Requests to one process go on by themselves.
    runBulk(all, async (process) => await process.underWay()),
    continueReleases(directory),
  ]);
  return outcomes.flat();
}

/** Goes on with the releases that are on record, in the order of an apply. */
async function continueReleases(directory: AppDirectory): Promise<Outcome[]> {
  const all = directory.apps();
  for (const app of all) if (!app.isChanging) app.hold()();
  const apps = all.filter(({ isChanging }) => isChanging);
  const wanted = apps.map((app) => app.wanted);
  const present = directory.list().map(({ config }) => config);
  const waves = (ifPossible(() => applyWaves(wanted, present)) ?? [wanted])
    .map((wave) => wave.map(({ name }) => directory.app(name)!));
  const held = waves.map((wave) => wave.map((app) => app.hold()));
  const outcomes: Outcome[] = [];
  for (const [index, wave] of waves.entries()) {
    const over = wave.map((app) => app.released());
    for (const go of held[index]!) go();
    outcomes.push(...(await Promise.all(over)).flatMap(({ outcomes }) => outcomes));
  }
  return outcomes;
}
