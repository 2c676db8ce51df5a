// deno-lint-ignore-file no-console
/**
 * Deploys releases of every kind under load, each with a rollback, and says what the clients saw:
 *
 *     deno task test:releases [--kinds bad,crash] [--runtimes node,python,deno] [--instances 1,2,4]
 *       [--ports shared,own] [--overlap yes,no] [--lanes 2] [--kills 200 --seed 1]
 *
 * With `--kills N` it deploys N releases at random places and sends SIGKILL to the daemon at a
 * random moment of each: the next daemon must end it as it would have ended. Prints a row per
 * release. Exit code 1 if one did not go as it must.
 */

import { parseArgs } from "@std/cli/parse-args";
import { fewAtATime } from "../src/platform/concurrency.ts";
import { sleep } from "../src/platform/clock.ts";
import { TestDaemon } from "../tests/support/procsup.ts";
import { waitFor } from "../tests/support/wait_for.ts";
import { Random } from "./faults/chaos/random.ts";
import { type Kind, KINDS } from "./releases/kinds.ts";
import type { LoadResult } from "./releases/load.ts";
import { isPossible, type Place, placeText, Scene } from "./releases/scene.ts";

const options = parseArgs(Deno.args, {
  string: ["kinds", "runtimes", "instances", "ports", "overlap", "lanes", "kills", "seed"],
});

/** The chosen ones of some values; all unless the option is set. Ends with 2 for an unknown one. */
function chosen<T extends string>(option: string, all: readonly T[]): readonly T[] {
  const words = String(options[option] ?? all.join(",")).split(",");
  const wrong = words.find((word) => !(all as readonly string[]).includes(word));
  if (wrong === undefined) return all.filter((one) => words.includes(one));
  console.error(`--${option} ${wrong}: expected some of ${all.join(", ")}`);
  Deno.exit(2);
}

const kinds = KINDS.filter(({ name }) =>
  chosen("kinds", KINDS.map(({ name }) => name)).includes(name)
);
const places: readonly Place[] = chosen("runtimes", ["node", "python", "deno"]).flatMap((runtime) =>
  chosen("ports", ["shared", "own"]).flatMap((ports) =>
    chosen("overlap", ["yes", "no"]).flatMap((overlap) =>
      chosen("instances", ["1", "2", "4"]).map((instances) => ({
        ...{ runtime, ports, overlap: overlap === "yes", instances: Number(instances) },
      }))
    )
  )
).filter(isPossible);

interface Row {
  readonly place: Place;
  readonly kind: Kind;
  readonly load: LoadResult;
  /** From the request to its end. */
  readonly seconds: number;
  readonly serving: readonly string[];
  /** How the release ended, on record. */
  readonly record: string;
  /** Why it failed, and its rollback. */
  readonly reasons: readonly string[];
  readonly problems: readonly string[];
}

let count = 0;

/** Starts an app in a place, and hands it to `act` under load. */
async function inPlace(
  daemon: TestDaemon,
  place: Place,
  kind: Kind,
  act: (scene: Scene) => Promise<string | undefined>,
): Promise<Row> {
  const scene = new Scene(daemon, `app${++count}`, place);
  await scene.start();
  const load = scene.load();
  // Kept connections are in use by then.
  await sleep(500);
  const begun = performance.now();
  const problems: string[] = [];
  const failure = await act(scene).catch((error) => void problems.push((error as Error).message));
  const ended = performance.now();
  const expected = Array(place.instances).fill(kind.isGood ? kind.name : "old").join();
  let serving = await scene.serving();
  await waitFor(async () => (serving = await scene.serving()).join() === expected, {
    timeoutMs: 10_000,
  }).catch(() => problems.push(`${serving.join(", ")} in place of ${expected}`));
  if (kind.isGood && failure) problems.push(failure);
  await sleep(500);
  const seen = await load.stop();
  const [record, reasons] = [(await scene.record()).join(), await scene.reasons()];
  await scene.delete();
  const seconds = (ended - begun) / 1000;
  const row = { place, kind, load: seen, seconds, serving, record, reasons, problems };
  problems.push(...problemsOf(row, ended));
  console.log(rowText(row));
  return row;
}

/** What must not be, apart from a wrong end. */
function* problemsOf(row: Row, ended: number): Generator<string> {
  const { place, kind, load, record, reasons } = row;
  const expected = kind.isGood ? "done" : "rolled_back";
  if (record !== expected) {
    yield `on record: ${record || "nothing"} in place of ${expected}: ${reasons.join("; ")}`;
  }
  // Nobody holds the port of the only instance while it is replaced, and those who wait there are
  // reset; nor its shared socket, unless a daemon does.
  const mayRefuse = place.instances === 1 && (place.ports === "own" || options.kills !== undefined);
  const failed = load.failed.filter((why) => !(mayRefuse && /refused|reset|closed/.test(why)));
  if (failed.length > 0) yield `failed: ${[...new Set(failed)].slice(0, 3).join("; ")}`;
  if (kind.isGood && load.bad > 0) yield "bad answers of a good release";
  if (load.badInstances.size > 1) yield `bad answers of ${load.badInstances.size} instances`;
  if (load.bad > 0 && load.lastBadAt > ended) yield "bad answers after the rollback";
}

const COLUMNS = [-26, -25, 8, 6, 7, 5, 7, 6, -10, -11] as const;

function columns(cells: readonly unknown[]): string {
  return cells.map((cell, index) => {
    const width = COLUMNS[index] ?? 0;
    return width < 0 ? String(cell).padEnd(-width) : String(cell).padStart(width);
  }).join(" ");
}

function rowText({ place, kind, load, seconds, serving, record, problems }: Row): string {
  const same = new Set(serving).size === 1 ? serving[0] : serving.join(",");
  const ok = problems.length === 0 ? "✔" : `✘ ${problems.join("; ")}`;
  return columns([
    ...[placeText(place), kind.what, load.requests, load.failed.length, load.retried, load.bad],
    ...[seconds.toFixed(1), load.longestMs.toFixed(0), same, record, ok],
  ]);
}

const lanes = Number(options.lanes ?? 2);

async function everyKind(): Promise<Row[]> {
  await using daemon = await TestDaemon.start();
  const rows = places.flatMap((place) => kinds.map((kind) => ({ place, kind })));
  return await fewAtATime(
    lanes,
    rows,
    ({ place, kind }) => inPlace(daemon, place, kind, (scene) => scene.deploy(kind)),
  );
}

/** Releases with the daemon killed at a random moment of each; each lane has a daemon of its own. */
async function killed(times: number): Promise<Row[]> {
  const random = new Random(Number(options.seed ?? 1));
  const rest = Array.from({ length: times }, () => ({
    ...{ place: random.pick(places), kind: random.pick(kinds), wait: random.whole(0, 6000) },
  }));
  const rows: Row[] = [];
  await Promise.all(Array.from({ length: lanes }, async () => {
    await using daemon = await TestDaemon.start();
    for (let one; (one = rest.shift()) !== undefined;) {
      const { place, kind, wait } = one;
      rows.push(await inPlace(daemon, place, kind, (scene) => cutOff(daemon, scene, kind, wait)));
    }
  }));
  return rows;
}

/** Resolves when the next daemon has ended a release that the first one was killed in. */
async function cutOff(daemon: TestDaemon, scene: Scene, kind: Kind, wait: number) {
  // The daemon does not live to answer.
  const answer = scene.deploy(kind).catch(() => {});
  await waitFor(async () => (await scene.record()).length > 0, { what: "the release" });
  await Promise.race([answer, sleep(wait)]);
  await daemon.kill();
  await daemon.run();
  await scene.settled(kind);
  return undefined;
}

const titles = ["place", "release", "requests", "failed", "retried", "bad", "seconds", "max ms"];
console.log(columns([...titles, "serving", "record"]));
const rows = await (options.kills === undefined ? everyKind() : killed(Number(options.kills)));
const wrong = rows.filter(({ problems }) => problems.length > 0);
const sum = (value: (row: Row) => number) => rows.reduce((total, row) => total + value(row), 0);
console.log(
  `\n${rows.length} releases, ${sum(({ load }) => load.requests)} requests, ` +
    `${sum(({ load }) => load.failed.length)} failed, ${sum(({ load }) => load.bad)} bad, ` +
    `${wrong.length} not as they must be`,
);
Deno.exit(wrong.length === 0 ? 0 : 1);
