/** The operations of a chaos run on a daemon and its apps. */

import { sleep } from "../../../src/platform/clock.ts";
import type { Wire } from "./apps.ts";
import { asked, rest, type Scene, way } from "./asking.ts";
import { living } from "./processes.ts";

/** Apps that a start of the app also starts. */
const NEEDS: Readonly<Record<string, readonly string[]>> = {
  middle: ["base"],
  top: ["base", "middle"],
};

type Verb = (scene: Scene, app: Wire) => Promise<void>;

const start: Verb = async (scene, { name, cron }) => {
  for (const other of NEEDS[name] ?? []) scene.ledger.mayBeUp(other);
  const ask = way(scene, "start", name);
  await scene.ledger.request(name, () => asked(scene, `start ${name}`, ask), (it) => {
    Object.assign(it, { exists: true, desired: cron === undefined ? "up" : undefined });
  });
};

const stop: Verb = async (scene, { name, cron }) => {
  const force = scene.random.chance(0.15);
  if (force) scene.ledger.killed.push({ name, what: "app", at: Date.now() });
  const ask = force
    ? () => scene.house.client.call("stop", { target: name, force })
    : way(scene, "stop", name);
  await scene.ledger.request(
    name,
    () => asked(scene, `stop ${name}${force ? " force" : ""}`, ask),
    (it) => {
      // The schedule starts a job again.
      Object.assign(it, { exists: true, desired: cron === undefined ? "down" : undefined });
    },
  );
};

const again = (verb: "restart" | "reload"): Verb => async (scene, { name, cron }) => {
  for (const other of NEEDS[name] ?? []) scene.ledger.mayBeUp(other);
  const ask = way(scene, verb, name);
  await scene.ledger.request(name, () => asked(scene, `${verb} ${name}`, ask), (it) => {
    Object.assign(it, { exists: true, desired: cron === undefined ? "up" : undefined });
  });
};

const roll: Verb = async (scene, { name, env, cron }) => {
  for (const other of NEEDS[name] ?? []) scene.ledger.mayBeUp(other);
  const changed = { env: { ...env as object, ROLLED: String(scene.random.whole(1, 1e6)) } };
  const payload = {
    target: name,
    ...(scene.random.chance(0.5) ? { config: changed } : {}),
    rollback_on_failure: scene.random.chance(0.5),
  };
  const ask = () => scene.house.client.call("rolling_reload", payload);
  await scene.ledger.request(name, () => asked(scene, `roll ${name}`, ask), (it) => {
    Object.assign(it, {
      exists: true,
      patched: undefined,
      desired: cron === undefined ? "up" : undefined,
    });
  });
};

const scale: Verb = async (scene, { name }) => {
  const instances = scene.random.whole(1, 4);
  const ask = () => scene.house.client.call("scale", { target: name, instances });
  await scene.ledger.request(name, () => asked(scene, `scale ${name} ${instances}`, ask), (it) => {
    const desired = it.desired === "up" ? "up" : undefined;
    Object.assign(it, { exists: true, instances, desired });
  });
};

const remove: Verb = async (scene, { name }) => {
  const ask = scene.random.chance(0.4)
    ? () => rest(scene, "DELETE", `/processes/${name}`)
    : () => scene.house.client.call("delete", name);
  await scene.ledger.request(name, () => asked(scene, `delete ${name}`, ask), (it) => {
    Object.assign(it, {
      exists: false,
      desired: undefined,
      instances: undefined,
      patched: undefined,
    });
  });
  scene.ledger.forgotten.set(name, Date.now());
};

export const add: Verb = async (scene, app) => {
  const { name, instances = 1 } = app;
  for (const other of NEEDS[name] ?? []) scene.ledger.mayBeUp(other);
  const ask = () => scene.house.client.call("start", app);
  await scene.ledger.request(name, () => asked(scene, `add ${name}`, ask), (it) => {
    Object.assign(it, {
      exists: true,
      patched: undefined,
      desired: app.cron === undefined ? "up" : undefined,
      instances,
    });
  });
};

const patch: Verb = async (scene, { name, env }) => {
  for (const other of NEEDS[name] ?? []) scene.ledger.mayBeUp(other);
  const patched = String(scene.random.whole(1, 1e6));
  const config = { env: { ...env as object, PATCHED: patched } };
  const ask = () => rest(scene, "PATCH", `/processes/${name}`, config);
  await scene.ledger.request(
    name,
    () => asked(scene, `patch ${name}`, ask),
    (it) => it.patched = patched,
  );
};

/** A release that ends at once: the answer says whether the old configuration is back. */
const badRelease: Verb = async (scene, app) => {
  const { name, env } = app;
  // Others depend on these, or these take their time to start again.
  if (/^(base|middle|forker|stubborn|stray)$/.test(name)) return await patch(scene, app);
  const payload = {
    target: name,
    config: { env: { ...env as object, MODE: "exit:9", AFTER: "0", RELEASE: "bad" } },
    batch_size: scene.random.whole(1, 2),
  };
  await scene.ledger.request(
    name,
    async () => {
      let isBack = false;
      await asked(scene, `bad release ${name}`, async () => {
        const answer = await scene.house.client.call("reconfigure", payload);
        isBack = answer.rolled_back;
        return answer;
      });
      return isBack;
    },
    (it) => it.isRolledBack = true,
  );
};

const signal: Verb = async (scene, { name }) => {
  await asked(
    scene,
    `signal ${name}`,
    () =>
      scene.house.client.call("signal", {
        target: name,
        signal: scene.random.pick(["USR1", "HUP"]),
      }),
  );
};

const applyFile: Verb = async (scene) => {
  const some = scene.apps.filter(() => scene.random.chance(0.8));
  const processes = some.map((app) =>
    scene.random.chance(0.2)
      ? { ...app, env: { ...app.env as object, APPLIED: String(scene.random.whole(1, 1e6)) } }
      : app
  );
  const missing = some.flatMap(({ name, depends_on }) =>
    depends_on === undefined
      ? []
      : NEEDS[name]!.filter((it) => !some.some((app) => app.name === it))
  );
  for (const name of new Set(missing)) processes.push(scene.apps.find((app) => app.name === name)!);
  const path = `${scene.folder}/apps-${scene.random.whole(1, 3)}.json`;
  Deno.writeTextFileSync(path, JSON.stringify({ processes }));
  const prune = scene.random.chance(0.2);
  await scene.ledger.onAll(() =>
    asked(
      scene,
      `apply ${processes.length}`,
      () =>
        scene.house.client.call("config_reload", {
          config_path: path,
          prune,
        }),
    )
  );
  if (prune) { for (const { name } of scene.apps) scene.ledger.forgotten.set(name, Date.now()); }
};

const save: Verb = async (scene) => {
  await asked(scene, "save", () => scene.house.client.call("save"));
};

const resurrect: Verb = async (scene) => {
  for (const { name } of scene.apps) scene.ledger.forgotten.set(name, Date.now());
  await scene.ledger.onAll(() =>
    asked(scene, "resurrect", () => scene.house.client.call("resurrect"))
  );
};

function kill(what: "app" | "wrapper"): Verb {
  return async (scene) => {
    const isWrapper = (command: string) => command.startsWith("/bin/sh -c \ntrap");
    const victims = living(scene.folder).filter(({ command }) =>
      what === "wrapper" ? isWrapper(command) : command.includes("app.pl") && !isWrapper(command)
    );
    if (victims.length === 0) return;
    const victim = scene.random.pick(victims);
    scene.say(`! kill -9 ${what} ${victim.name} ${victim.pid}`);
    scene.ledger.killed.push({ name: victim.name, what, at: Date.now() });
    try {
      Deno.kill(victim.pid, "SIGKILL");
    } catch {
      // The process ended before the signal.
    }
    await Promise.resolve();
  };
}

const touch: Verb = async (scene) => {
  await Deno.writeTextFile(`${scene.folder}/watched/file`, String(scene.random.next()));
};

const VERBS: readonly (readonly [number, Verb])[] = [
  [10, start],
  [9, stop],
  [8, again("restart")],
  [8, again("reload")],
  [4, roll],
  [4, scale],
  [5, remove],
  [10, add],
  [3, patch],
  [3, badRelease],
  [2, signal],
  [2, applyFile],
  [1, save],
  [1, resurrect],
  [5, kill("app")],
  [2, kill("wrapper")],
  [2, touch],
];

/** Runs one random operation, mostly on an app without an operation in progress. */
export async function operate(scene: Scene): Promise<void> {
  const { random, apps, ledger } = scene;
  const idle = apps.filter(({ name }) => ledger.of(name).busy === 0);
  const app = random.pick(random.chance(0.85) && idle.length > 0 ? idle : apps);
  let dice = random.next() * VERBS.reduce((sum, [weight]) => sum + weight, 0);
  const [, verb] = VERBS.find(([weight]) => (dice -= weight) < 0)!;
  // Most requests should be possible.
  const exists = ledger.of(app.name).exists;
  if (exists === false && verb !== add && random.chance(0.8)) return await add(scene, app);
  if (exists === true && verb === add && random.chance(0.8)) return await start(scene, app);
  if (
    verb === scale && app.name !== "many" && app.name !== "lap" && app.name !== "sock" &&
    app.name !== "coder"
  ) {
    return await start(scene, app);
  }
  await verb(scene, app);
}

/** Disturbs the daemon in one random way. On return a daemon is running. */
export async function disturb(scene: Scene): Promise<void> {
  const { random, house, say } = scene;
  const dice = random.next();
  if (dice < 0.65) {
    say("! SIGKILL of the daemon");
    await house.end("SIGKILL");
    await sleep(random.chance(0.5) ? 0 : random.whole(0, 1500));
  } else if (dice < 0.75) {
    say("! SIGTERM of the daemon");
    await house.end("SIGTERM");
  } else if (dice < 0.95) {
    const ms = random.whole(100, 2500);
    say(`! SIGSTOP of the daemon for ${ms} ms`);
    house.signal("SIGSTOP");
    await sleep(ms);
    house.signal("SIGCONT");
  } else {
    say("! upgrade");
    const { code, stderr } = await house.cli("upgrade", "--force");
    if (code !== 0) say(`upgrade failed: ${stderr}`);
  }
  await house.up();
}

/** Sends a request and ends the daemon during it or right after its answer. */
export async function cutOff(scene: Scene): Promise<void> {
  const { random, house, say } = scene;
  const under = operate(scene);
  if (random.chance(0.5)) await under;
  else await sleep(random.whole(0, 60));
  say("! SIGKILL of the daemon, cutting off");
  await house.end("SIGKILL");
  // A request over REST waits in the socket that outlives the daemon: the next one answers it.
  await Promise.all([under, house.up()]);
}
