/**
 * Checks the daemon at a quiet moment against the records that the apps wrote themselves: their runs,
 * their exits and their lines.
 */

import { listArchives, openArchive } from "../../../src/logs/write/archives.ts";
import { readPosition } from "../../../src/logs/write/log_position.ts";
import { type App, specOf } from "../../../src/model/app.ts";
import type { ProcessConfig } from "../../../src/model/process_config.ts";
import { isProcess, parseRecordLines, type ProcessRecord } from "../../../src/manager/records.ts";
import { pathsIn } from "../../../src/platform/files/paths.ts";
import type { ProcessJson } from "../../../src/protocol/wire.ts";
import { mayOverlap } from "./apps.ts";
import type { Scene } from "./asking.ts";
import type { Ledger } from "./ledger.ts";
import { living, zombiesOf } from "./processes.ts";

/** Kinds of apps that exit by themselves, or fail because of a dependency. */
const COMES_AND_GOES = /^(coder|giver|segv|job|forker|stubborn|stray|aged)(:|$)/;

const AT_REST = new Set(["stopped", "crashed", "errored"]);

/** Lines of a file of the run; empty if it does not exist. */
function linesOf(path: string): string[] {
  try {
    return Deno.readTextFileSync(path).split("\n").filter((line) => line !== "");
  } catch {
    return [];
  }
}

/** A process on record, with its configuration. */
export interface Known extends ProcessRecord {
  readonly app: App;
  readonly config: ProcessConfig;
}

/** Parses every record of the home. Throws for an invalid one. */
export function records(home: string): Map<string, Known> {
  const folder = pathsIn(home).records;
  const processes: ProcessRecord[] = [];
  const apps = new Map<string, App>();
  for (const { name } of Deno.readDirSync(folder)) {
    if (!name.endsWith(".json")) continue;
    try {
      const { record } = parseRecordLines([Deno.readTextFileSync(`${folder}/${name}`)]);
      if (isProcess(record!)) processes.push(record);
      else apps.set(record!.name, record!);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) continue;
      throw new Error(`record ${name} cannot be read: ${(error as Error).message}`);
    }
  }
  return new Map(processes.flatMap((record) => {
    // It may have been deleted in between.
    const app = apps.get(record.identity.app);
    if (app === undefined) return [];
    const config = specOf(app, record.snapshot.generation);
    return [[record.identity.name, { ...record, app, config }] as const];
  }));
}

/** Describes states that are wrong now but may still become right. */
export async function unsettled(scene: Scene): Promise<string[]> {
  const list = await scene.house.client.call("list");
  const recorded = records(scene.house.home);
  const problems: string[] = [];
  const alive = Map.groupBy(
    living(scene.folder).filter((it) => isOfRun(it.runId, list)),
    (it) => it.name,
  );
  for (const process of list) {
    const mine = alive.get(process.name) ?? [];
    problems.push(
      ...ofProcess(
        scene,
        process,
        mine.map(({ pid }) => pid),
        // The reader of a notify socket ends with its run, but has no id of it.
        new Set(mine.flatMap(({ runId }) => runId || [])).size,
        recorded,
      ),
    );
  }
  const known = new Set(list.map(({ name }) => name));
  for (const [name, strangers] of alive) {
    if (known.has(name)) continue;
    problems.push(
      `${name} is not listed, but alive: ${
        strangers.map(({ pid, command }) => `${pid} ${command}`)
      }`,
    );
  }
  for (const [name, entry] of scene.ledger.all()) {
    const count = list.filter((it) => (it.config as { name: string }).name === name).length;
    if (entry.exists === true && count === 0) {
      problems.push(`${name} was granted, and is not listed`);
    }
    if (entry.exists === false && count > 0) problems.push(`${name} was deleted, and is listed`);
    const wanted = list.filter((it) => (it.config as { name: string }).name === name)
      .map((it) => it.config.instances as number);
    // A disk that refuses writes keeps some that should be removed, and the request fails.
    if (wanted.some((instances) => instances > count)) {
      problems.push(`${name} has ${count} instances, configured with ${wanted}`);
    }
    if (entry.exists && entry.instances !== undefined && count !== entry.instances) {
      problems.push(`${name} should have ${entry.instances} instances, not ${count}`);
    }
  }
  const zombies = zombiesOf(scene.house.pid);
  if (zombies.length > 0) problems.push(`zombies of the daemon: ${zombies}`);
  return problems;
}

/** A hook has the id of its process instead of a run id. */
function isOfRun(runId: string, list: readonly ProcessJson[]): boolean {
  return !list.some(({ id }) => runId.startsWith(id));
}

function ofProcess(
  scene: Scene,
  process: ProcessJson,
  pids: readonly number[],
  runs: number,
  recorded: ReadonlyMap<string, Known>,
): string[] {
  const { name, state, pid } = process;
  const desired = recorded.get(name)?.snapshot.desired;
  const told = `${name} is ${state} (${process.last_reason})`;
  const problems: string[] = [];
  const base = (process.config as { name: string }).name;
  const granted = scene.ledger.of(base).desired;
  const forOthers = desired === "up" && scene.ledger.upForOthers.has(base);
  if (granted !== undefined && desired !== granted && !forOthers) {
    problems.push(`${told}: ${granted} was granted, and the record says ${desired}`);
  }
  const { patched, isRolledBack } = scene.ledger.of(base);
  const isBad = isBadRelease(recorded.get(name));
  if (isRolledBack && isBad) {
    problems.push(`${told}: its bad release was rolled back, and is on record`);
  }
  if (patched !== undefined && recorded.get(name)?.config.env.PATCHED !== patched) {
    problems.push(`${told}: PATCHED=${patched} was granted, and is not on record`);
  }
  // Processes that left the group of a crash-looping app are ended while the next run starts.
  if (runs > 1 && name !== "stray") problems.push(`${told}: alive in ${runs} runs: ${pids}`);
  if (AT_REST.has(state) && pids.length > 0) problems.push(`${told}, but alive: ${pids}`);
  if (state === "stopping") problems.push(told);
  if (state === "starting" && !/^(lap|selfish)/.test(name)) problems.push(told);
  if (state === "running" && !pids.includes(pid)) {
    problems.push(`${told}, but its pid ${pid} is not alive`);
  }
  if (desired === "down" && !AT_REST.has(state)) problems.push(`${told}, but wanted down`);
  if (desired === "up" && state !== "running" && !isBad && !COMES_AND_GOES.test(name)) {
    const reason = process.last_reason;
    const excused = state === "errored" && /used up|depends on/.test(reason);
    if (!excused) problems.push(`${told}, but wanted up`);
  }
  if (name === "hooked" && state === "running" && !hooks(scene).has(`post_start hooked ${pid}`)) {
    problems.push(`${told}: no post_start for ${pid}`);
  }
  return problems;
}

/** Whether it has a release that ends at once. */
export function isBadRelease(record: Known | undefined): boolean {
  return record?.config.env.RELEASE === "bad";
}

function hooks({ folder }: Scene): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of linesOf(`${folder}/hooks`)) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}

/** Whether the app was started but has not recorded it yet. */
function isYetToTell({ state, pid }: ProcessJson, known: readonly Life[]): boolean {
  return state === "running" && !known.some((life) => life.pid === pid);
}

const seen = new Map<
  string,
  { forgotten: number; restarts: number; starts: number; touched: number }
>();

/** Describes states that are never allowed. */
export async function violations(scene: Scene): Promise<string[]> {
  const { folder, house, ledger } = scene;
  const problems = linesOf(`${folder}/doubles`).map((line) => `two lives at once: ${line}`);
  for (const [line, count] of hooks(scene)) {
    const [event, , pid] = line.split(" ");
    // A hook runs again if the daemon was killed before it recorded the hook's end.
    if (event === "post_start" && count > 2 && pid !== "0") {
      problems.push(`${line}: ${count} times`);
    }
  }
  for (const line of linesOf(pathsIn(house.home).daemonLog)) {
    if (/uncaught|unhandled|internal|TypeError|ReferenceError/i.test(line)) {
      problems.push(line);
    }
  }
  const listedAt = Date.now();
  for (const process of await house.client.call("list")) {
    // It is unknown whether its launch is counted yet.
    if (process.state === "starting") continue;
    // A life that began after the list was made cannot be compared with it.
    const known = lives(folder, process.name).filter(({ startedAt }) => startedAt < listedAt);
    const base = (process.config as { name: string }).name;
    const now = {
      forgotten: ledger.forgotten.get(base) ?? 0,
      restarts: process.restarts,
      starts: known.length + (isYetToTell(process, known) ? 1 : 0),
      touched: (ledger.touched.get(base) ?? 0) + ledger.killed.length,
    };
    const before = seen.get(process.id);
    seen.set(process.id, now);
    if (
      before !== undefined && now.restarts - before.restarts > now.starts - before.starts &&
      now.touched === before.touched
    ) {
      problems.push(
        `${process.name}: restarts ${before.restarts} → ${now.restarts} but starts ${before.starts} → ${now.starts}`,
      );
    }
    const same = before?.forgotten === now.forgotten;
    if (before !== undefined && same && now.restarts < before.restarts) {
      problems.push(`${process.name}: restarts fell`);
    }
    if (!mayOverlap(process.name)) problems.push(...exitProblems(process, known, ledger));
  }
  return problems;
}

/** One run of an app. */
interface Life {
  readonly runId: string;
  readonly pid: number;
  readonly startedAt: number;
  /** `code 3` or `signal SEGV`; undefined if the app could not record it. */
  readonly means: string | undefined;
  readonly endedAt: number | undefined;
}

/** The lives of an app, oldest first. */
function lives(folder: string, name: string): Life[] {
  const found = new Map<string, Life>();
  for (const line of linesOf(`${folder}/life/${name}`)) {
    const [what, runId, ...rest] = line.split(" ");
    if (what === "start") {
      const [pid, at] = rest.map(Number);
      found.set(runId!, {
        runId: runId!,
        pid: pid!,
        startedAt: at!,
        means: undefined,
        endedAt: undefined,
      });
    } else if (what === "exit") {
      const [kind, word, at] = rest;
      const life = found.get(runId!);
      if (life) found.set(runId!, { ...life, means: `${kind} ${word}`, endedAt: Number(at) });
    }
  }
  return [...found.values()];
}

/** Describes how the last exit that the daemon reports differs from the recorded one. */
function exitProblems(process: ProcessJson, all: readonly Life[], ledger: Ledger): string[] {
  const exit = process.last_exit;
  const over = process.pid > 0 ? all.filter(({ pid }) => pid !== process.pid) : all;
  const last = over.at(-1);
  // Another process had that name before, or the present life has not recorded its start.
  if (last === undefined || last.startedAt < Date.parse(process.created_at)) return [];
  const told = exit === null
    ? "none"
    : exit.signal !== null
    ? `signal ${exit.signal.replace("SIG", "")}`
    : `code ${exit.code}`;
  const hit = (what: string) =>
    ledger.killed.some((it) =>
      it.what === what && it.name === process.name && it.at >= last.startedAt - 100
    );
  const base = (process.config as { name: string }).name;
  if (last.startedAt < (ledger.forgotten.get(base) ?? 0)) return [];
  const allowed = new Set([last.means ?? "signal KILL"]);
  if (hit("app") || ledger.killed.some((it) => it.name === base && it.at >= last.startedAt)) {
    allowed.add("signal KILL");
  }
  if (hit("wrapper")) allowed.add("code null").add("signal KILL");
  // This life ended before it could record anything.
  const unseen = exit !== null && Date.parse(exit.at) > (last.endedAt ?? last.startedAt) + 30 &&
    (exit.signal === "SIGTERM" || exit.signal === "SIGKILL");
  if (allowed.has(told) || unseen) return [];
  return [
    `${process.name} (${process.state}): last exit is told as ${told} at ${exit?.at}, and was ` +
    `${[...allowed].join(" or ")} of pid ${last.pid} started ${
      new Date(last.startedAt).toISOString()
    }` +
    ` ended ${last.endedAt && new Date(last.endedAt).toISOString()}`,
  ];
}

/** Describes missing and repeated lines. */
export async function lineProblems(home: string, folder: string): Promise<string[]> {
  const problems: string[] = [];
  const found = new Map<string, number>();
  for (const { name } of Deno.readDirSync(`${home}/apps`)) {
    for (const stream of ["stdout", "stderr"]) {
      const path = `${home}/apps/${name}/${stream}.log`;
      problems.push(...count(await wholeText(path), path, found));
    }
  }
  for (const { name: file } of Deno.readDirSync(`${folder}/counts`)) {
    const written = Number(Deno.readTextFileSync(`${folder}/counts/${file}`).split("\n")[0]);
    const runId = file.slice(file.lastIndexOf(".") + 1);
    for (const stream of ["o", "e"]) {
      const there = found.get(`${runId} ${stream}`) ?? 0;
      if (there < written) {
        problems.push(`${file} wrote ${written} lines to ${stream}, ${there} are there`);
      }
    }
  }
  return problems;
}

async function wholeText(path: string): Promise<string> {
  const { base } = readPosition(path);
  let text = "";
  for (const archive of listArchives(path, base)) {
    const bytes = await openArchive(archive);
    if (bytes !== undefined) text += await new Response(bytes).text();
  }
  try {
    return text + await Deno.readTextFile(path);
  } catch {
    return text;
  }
}

/** Reads the consecutive numbers of a text. */
function count(text: string, path: string, found: Map<string, number>): string[] {
  const problems: string[] = [];
  for (const line of text.split("\n")) {
    const parts = /^(\S+) ([0-9a-f-]{36}) ([oe]) (\d+)$/.exec(line);
    if (parts === null) {
      if (/\d$/.test(line)) problems.push(`${path}: torn line "${line}"`);
      continue;
    }
    const key = `${parts[2]} ${parts[3]}`;
    const [before, now] = [found.get(key) ?? 0, Number(parts[4])];
    if (now !== before + 1) problems.push(`${path}: ${key} ${now} after ${before}`);
    found.set(key, now);
  }
  return problems;
}
