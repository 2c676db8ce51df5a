/**
 * Random lives of an app with up to eight instances: requests, failures, stops and killed daemons at
 * any moment. `APP_LIVES=1000000 APP_SEED=1` runs more of them.
 */

import { assert, assertEquals } from "@std/assert";
import { generationOf, type Release, specOf, wantedConfig } from "../../src/model/app.ts";
import { configChanges, needsRestart } from "../../src/model/config_diff.ts";
import type { ProcessConfig } from "../../src/model/process_config.ts";
import { config, isGood, JOB, Life, type Sim } from "./app_life.ts";

const LIVES = Number(Deno.env.get("APP_LIVES") ?? 2000);
const SEED = Number(Deno.env.get("APP_SEED") ?? 1);

/** A fast generator; each life has its own seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

type Pick = (below: number) => number;

function anyConfig(pick: Pick, life: Life, onlyGood: boolean): ProcessConfig {
  const now = wantedConfig(life.app);
  switch (pick(onlyGood ? 4 : 8)) {
    case 0:
      return config({ ...now, tags: [`${pick(3)}`] });
    case 1:
      return onlyGood ? config({ ...now, args: ["3"] }) : config({ ...JOB, args: [`${pick(3)}`] });
    case 4:
    case 5:
      return config({ args: ["bad"] });
    case 6:
      return config({ args: ["exit"] });
    default:
      return config({ args: [`${pick(3)}`] });
  }
}

function anyOf(pick: Pick, life: Life): Sim | undefined {
  return life.instances[pick(Math.max(1, life.instances.length))];
}

/** What may happen when every instance is able to serve. */
function calm(pick: Pick, life: Life): void {
  if (pick(3) === 0) {
    const how = { batch: 1 + pick(3), rollback: pick(2) === 0, always: pick(3) === 0 };
    return life.request(pick(3) === 0 ? undefined : anyConfig(pick, life, true), how);
  }
  const step = life.instances.filter(({ id }) => life.steps.has(id));
  if (step.length > 0) life.finish(step[pick(step.length)]!);
}

/** Anything. */
function wild(pick: Pick, life: Life): void {
  const one = anyOf(pick, life);
  switch (pick(17)) {
    case 0:
    case 1:
      return life.request(pick(4) === 0 ? undefined : anyConfig(pick, life, false), {
        ...{ batch: 1 + pick(4), rollback: pick(2) === 0, always: pick(3) === 0 },
        growsBy: pick(3) === 0 ? 1 + pick(3) : 0,
      });
    case 2:
      return life.instances.some(({ isLeaving }) => !isLeaving)
        ? life.scale(1 + pick(8))
        : undefined;
    case 3:
      return one && life.stop(one);
    case 4:
      return one && life.start(one);
    case 5:
      return one && pick(3) === 0 ? life.leave(one) : undefined;
    case 6:
      return one && life.crash(one);
    case 7:
      return life.killed();
    case 8: {
      const leaving = life.instances.find(({ isLeaving }) => isLeaving);
      return leaving && life.gone(leaving);
    }
    case 9:
      return one && !life.steps.has(one.id) ? life.settleRun(one) : undefined;
    case 10:
      return one && pick(3) === 0 ? life.complete(one) : undefined;
    case 11:
    case 12:
      return one && life.drained(one);
    default:
      if (one !== undefined && life.steps.has(one.id)) life.finish(one);
  }
}

function isSame(one: ProcessConfig, other: ProcessConfig): boolean {
  return one === other || !needsRestart(configChanges(one, other));
}

/** No run of what a rollback undoes is left when it is over, not even one that is being ended. */
function checkReleased(life: Life, { generation, undoes, result }: Release): void {
  for (const { id, unproven, isLeaving } of life.instances) {
    const isDue = result === "done" && unproven === generation && !isLeaving;
    assert(!isDue, `instance ${id} was added meanwhile, and has not come up`);
  }
  if (undoes === undefined || result === "superseded") return;
  const { app } = life;
  const [failed, back] = [specOf(app, undoes), specOf(app, generation)];
  for (const { id, draining, ...one } of life.instances) {
    const goesOn = result === "failed" && one.isUp && one.generation >= undoes;
    assert(
      goesOn || !draining.includes(undoes),
      `a failed run of instance ${id} is still being ended`,
    );
    const runs = one.state === "serving" || one.state === "starting";
    if (result !== "done" || !runs || one.isLeaving || isSame(failed, back)) continue;
    assert(one.generation !== undoes, `instance ${id} runs what was rolled back`);
  }
}

/** What must hold once everything has come to rest. */
function checkEnd(life: Life): void {
  const { app } = life;
  assertEquals(app.release, undefined, "no release is left under way");
  const wanted = wantedConfig(app);
  if (life.instances.length === 0) return;
  assertEquals(life.instances.length, wanted.instances, "the number of instances");
  for (const one of life.instances) {
    assert(!one.isStoppedByUser || !one.isUp, `instance ${one.id} stays stopped`);
    assert(one.rest !== "must" || one.state === "ended", `instance ${one.id} stays at rest`);
  }
  const last = app.history.at(-1);
  if (last === undefined) return;
  const isOver = last.result === "done" && last.generation === generationOf(app);
  if (!isOver) return;
  const undone = last.undoes === undefined ? undefined : specOf(app, last.undoes);
  // A reload without a change has nothing else to go back to.
  const broken = undone && !isSame(undone, wanted) ? undone : undefined;
  const isUpAgain = wanted.cron === undefined && isGood(wanted);
  for (const one of life.instances) {
    assert(isSame(life.specOf(one), wanted), `instance ${one.id} has what is wanted`);
    assert(wanted.cron !== undefined || !one.isHeld, `instance ${one.id} is not left stopped`);
    const isDown = one.isUp && one.state === "ended" && one.rest === undefined;
    assert(!isUpAgain || !isDown, `instance ${one.id} is up again`);
    assert(broken === undefined || life.specOf(one) !== broken, "no run of the failed one is left");
  }
}

/** A comparison of two ends: what is wanted, and what each instance is. */
function endOf(life: Life): unknown {
  return [
    wantedConfig(life.app).args,
    wantedConfig(life.app).cron !== undefined,
    life.instances.map((one) => [one.id, one.isUp, life.specOf(one).args]),
  ];
}

function oneLife(seed: number): void {
  const pick = numbers(seed);
  const isCalm = pick(3) === 0;
  const life = new Life(1 + pick(8), pick(2) === 0);
  let most = 1;
  life.beforeReplace = () => {
    if (!isCalm || life.overlaps) return;
    const down = life.instances.filter(({ state }) => state !== "serving").length;
    assert(down < most, `${down} are down when another one begins, with batches of ${most}`);
  };
  life.onReleased = (release) => checkReleased(life, release);
  for (let round = pick(40); round > 0; round--) {
    (isCalm ? calm : wild)(pick, life);
    most = Math.max(most, life.app.release?.batch ?? 1);
    if (pick(3) > 0) life.settle();
  }
  const other = life.copy();
  // Proofs are not on record: they begin again, and may end in another order.
  const isComparable = life.proving.size === 0;
  life.end();
  checkEnd(life);
  other.end();
  checkEnd(other);
  if (isComparable) assertEquals(endOf(other), endOf(life), "a new daemon reaches the same end");
}

Deno.test("every life of an app converges, batch by batch, to what was wanted last", () => {
  for (let n = 0; n < LIVES; n++) {
    const seed = (SEED * 1_000_003 + n) >>> 0;
    try {
      oneLife(seed);
    } catch (error) {
      throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
    }
  }
});
