/**
 * Kills the daemon during a request to all apps, once no other request is in progress. Afterwards the
 * request is done for each of them, or for none. A paused watch stays paused.
 */

import { waitFor } from "../../../tests/support/wait_for.ts";
import { isLoop } from "../../../src/model/restart_budget.ts";
import { sleep } from "../../../src/platform/clock.ts";
import type { Scene } from "./asking.ts";
import { add } from "./operations.ts";
import { isBadRelease, type Known, records } from "./oracle.ts";

/** Apps that neither end by themselves nor are replaced with overlap. */
const STEADY = /^(writer|many|sock|base|middle|top|hooked|slow|checked|deaf)(:|$)/;

type Records = ReadonlyMap<string, Known>;

interface Kind {
  readonly ask: (scene: Scene) => Promise<unknown>;
  /** Whether it is done for a process; the record is undefined once the process is deleted. */
  readonly isDone: (now: Known | undefined, before: Known) => boolean;
}

const isDown: Kind["isDone"] = (now) => now?.snapshot.desired === "down";

const isReplaced: Kind["isDone"] = (now, before) =>
  now?.snapshot.run?.runId !== before.snapshot.run?.runId;

const KINDS: Readonly<Record<string, Kind>> = {
  stop: { ask: ({ house }) => house.client.call("stop", { target: "all" }), isDone: isDown },
  shutdown: { ask: ({ house }) => house.client.call("shutdown"), isDone: isDown },
  start: {
    ask: ({ house }) => house.client.call("start", { target: "all", wait: true }),
    isDone: (now) => now?.snapshot.desired === "up",
  },
  restart: {
    ask: ({ house }) => house.client.call("restart", { target: "all" }),
    isDone: isReplaced,
  },
  reload: {
    ask: ({ house }) => house.client.call("reload", { target: "all" }),
    isDone: isReplaced,
  },
  delete: { ask: ({ house }) => house.client.call("delete", "all"), isDone: (now) => !now },
};

/** Cuts off one kind of request. Returns its name. */
export async function cutOffAll(scene: Scene): Promise<string> {
  const { random, house, apps, ledger } = scene;
  const name = random.pick([...Object.keys(KINDS), "scale", "roll", "watch"]);
  await ledger.onAll(() => cutOffKind(scene, name));
  for (const app of apps) ledger.forgotten.set(app.name, Date.now());
  const there = await house.client.call("list");
  const names = new Set(there.map(({ config }) => (config as { name: string }).name));
  for (const app of apps) if (!names.has(app.name)) await add(scene, app);
  return `${name} cut off`;
}

async function cutOffKind(scene: Scene, name: string): Promise<void> {
  const { house, say, violate } = scene;
  if (name === "watch") await keepPaused(scene);
  else if (name === "scale") await scaleCut(scene);
  else if (name === "roll") await rollCut(scene);
  else {
    const kind = KINDS[name]!;
    if (name !== "start") await house.client.call("start", { target: "all" }).catch(() => {});
    await settle(scene);
    const before = steady(scene, kind.isDone === isReplaced);
    say(`! ${name} all, cut off`);
    await cut(scene, () => kind.ask(scene));
    const now = records(house.home);
    const done = [...before].map(([one, record]) => kind.isDone(now.get(one), record));
    const already = [...before].map(([, record]) => kind.isDone(record, record));
    const isUndone = done.every((isDone, i) => isDone === already[i]);
    if (!isUndone && !done.every(Boolean)) {
      const left = [...before.keys()].filter((_, i) => !done[i]);
      violate(`${name} all was cut off, and is done by half: not for ${left}`);
    }
  }
}

/** The records of steady apps, of which only those with a run can be restarted. */
function steady({ house }: Scene, withRun: boolean): Records {
  return new Map(
    [...records(house.home)].filter(([name, record]) =>
      STEADY.test(name) && !isBadRelease(record) && !(withRun && record.snapshot.run === null)
    ),
  );
}

async function scaleCut(scene: Scene): Promise<void> {
  const { random, house, say, violate } = scene;
  const count = async () =>
    (await house.client.call("list")).filter(({ name }) => /^many(:|$)/.test(name)).length;
  const before = await count();
  if (before === 0) return;
  const instances = random.whole(1, 12);
  say(`! scale many ${instances}, cut off`);
  await cut(scene, () => house.client.call("scale", { target: "many", instances }));
  const now = await count();
  if (now === before || now === instances) return;
  violate(`scale many ${before} → ${instances} was cut off, and it has ${now} instances`);
}

/** A new configuration of several instances is that of all of them afterwards, or of none. */
async function rollCut(scene: Scene): Promise<void> {
  const { random, house, apps, say, violate } = scene;
  const rolled = String(random.whole(1, 1e6));
  const { env } = apps.find(({ name }) => name === "many")!;
  const config = { env: { ...env as object, ROLLED: rolled } };
  const payload = { target: "many", config, batch_size: random.whole(1, 2) };
  say(`! reconfigure many ${rolled}, cut off`);
  await cut(scene, () => house.client.call("reconfigure", payload));
  const many = [...records(house.home)].filter(([name]) => /^many(:|$)/.test(name));
  const have = many.map(([, { config }]) => config.env.ROLLED === rolled);
  if (!have.every((it) => it === have[0])) {
    violate(`reconfigure many ${rolled} was cut off, and is done by half: ${have}`);
  }
}

/** A new daemon does not restart an app again that restarted itself in a loop. */
async function keepPaused({ house, say, violate }: Scene): Promise<void> {
  const app = () => records(house.home).get("selfish")?.snapshot;
  const before = app();
  if (before?.state !== "running" || !isLoop(before.watchRestarts)) return;
  say("! watch paused, killed");
  await house.end("SIGKILL");
  await house.up();
  await sleep(2000);
  if (app()?.pid !== before.pid) violate("selfish was restarted although its watch is paused");
}

/** Kills the daemon during a request, sometimes twice, and waits until the next one has done the rest. */
async function cut(scene: Scene, ask: () => Promise<unknown>): Promise<void> {
  const { random, house } = scene;
  const asked = ask().catch(() => {});
  await sleep(random.whole(0, random.chance(0.5) ? 20 : 1500));
  await house.end("SIGKILL");
  await Promise.all([asked, house.up()]);
  if (random.chance(0.4)) {
    await sleep(random.whole(0, 300));
    await house.end("SIGKILL");
    await house.up();
  }
  await settle(scene);
}

async function settle({ house }: Scene): Promise<void> {
  const isSettled = () =>
    [...records(house.home).values()].every(({ app, snapshot }) =>
      snapshot.pending === null && !snapshot.leaving && snapshot.state !== "stopping" &&
      app.release === undefined && app.isResizing === undefined
    );
  let quiet = 0;
  const what = "the requests on record to be carried out";
  await waitFor(() => (quiet = isSettled() ? quiet + 1 : 0) > 5, { what, timeoutMs: 40_000 });
}
