// deno-lint-ignore-file no-console
/**
 * Sends random requests in every way to a daemon with some twenty apps of different kinds, while the
 * daemon is killed, stopped and replaced, and apps and their wrappers are killed. At quiet moments it
 * checks that granted requests took effect, that no process runs twice or is left over, and that exits
 * are reported correctly; at the end it checks that no line is lost. Between the rounds it cuts off a
 * request to all apps, which must be done for all of them or none, and flips bits of state files,
 * removes files of the home, makes the disk of the state full or read-only (root on Linux), or limits
 * descriptors.
 * Expected: no violation.
 *
 * `deno task chaos [--seed N] [--minutes M] [--keep]`
 */

import { fromFileUrl } from "@std/path";
import { sleep } from "../../src/platform/clock.ts";
import { bundle } from "../compile/bundle.ts";
import { freePort } from "../../tests/support/http_load.ts";
import { tempHome } from "../../tests/support/temp_home.ts";
import { isAlive } from "../../tests/support/procsup.ts";
import { waitFor } from "../../tests/support/wait_for.ts";
import { SmallDisk } from "../../tests/support/small_disk.ts";
import { chaosApps } from "./chaos/apps.ts";
import { House } from "./chaos/house.ts";
import { Ledger } from "./chaos/ledger.ts";
import { lineProblems, unsettled, violations } from "./chaos/oracle.ts";
import type { Scene } from "./chaos/asking.ts";
import { damage } from "./chaos/damage.ts";
import { cutOffAll } from "./chaos/half_done.ts";
import { add, cutOff, disturb, operate } from "./chaos/operations.ts";
import { living, sizeOf } from "./chaos/processes.ts";
import { Random } from "./chaos/random.ts";

/** Time in which granted requests must take effect. */
const SETTLE_MS = 40_000;

/** A problem that as many looks find, over more than two seconds, is no transition. */
const PERSISTENT = 10;

const ROOT = fromFileUrl(import.meta.resolve("../..")).replace(/\/$/, "");

class Chaos {
  readonly #scene: Scene;
  readonly #found = new Set<string>();
  readonly #story: string[] = [];
  readonly #disk: SmallDisk | undefined;
  /** How often each kind of damage was done. */
  readonly #damage = new Map<string, number>();
  #operations = 0;

  constructor(scene: Omit<Scene, "say" | "violate">, disk: SmallDisk | undefined) {
    this.#disk = disk;
    this.#scene = {
      ...scene,
      say: (line) => void this.#story.push(`${new Date().toISOString().slice(11, 23)} ${line}`),
      violate: (what) => this.violate(what),
    };
  }

  get found(): number {
    return this.#found.size;
  }

  get story(): readonly string[] {
    return this.#story;
  }

  async run(until: number): Promise<void> {
    const { apps, house } = this.#scene;
    for (const app of apps) await add(this.#scene, app);
    for (let round = 1; Date.now() < until; round++) {
      await this.#storm();
      await house.up();
      await this.#quiet();
      const { fds, mb } = sizeOf(house.pid);
      const { kills } = house;
      console.log(
        `round ${round}: ${this.#operations} requests, ${kills} kills, ${fds} fds, ${mb} MB`,
      );
      if (fds > 200) this.violate(`the daemon holds ${fds} descriptors`);
      if (mb > 300) this.violate(`the daemon takes ${mb} MB`);
      for (const act of [cutOffAll, damage]) {
        const kind = await act(this.#scene, this.#disk);
        this.#damage.set(kind, (this.#damage.get(kind) ?? 0) + 1);
        await this.#quiet();
      }
    }
    console.log([...this.#damage].map(([kind, count]) => `${kind}: ${count}`).join(", "));
    await this.#end();
  }

  async #storm(): Promise<void> {
    const { random } = this.#scene;
    const under = new Set<Promise<void>>();
    for (let count = random.whole(10, 30); count > 0; count--) {
      const dice = random.next();
      const act = dice < 0.12 ? disturb : dice < 0.24 ? cutOff : operate;
      this.#operations++;
      const one = act(this.#scene);
      if (act === operate) {
        under.add(one);
        void one.finally(() => under.delete(one)).catch(() => {});
        if (under.size >= 4) await Promise.race(under);
        await sleep(random.chance(0.3) ? 0 : random.whole(0, 250));
      } else await one;
    }
    await Promise.all(under);
  }

  async #quiet(): Promise<void> {
    const deadline = Date.now() + SETTLE_MS;
    const looks: string[][] = [];
    let problems = ["it was not looked at"];
    while (problems.length > 0 && Date.now() < deadline) {
      await sleep(200);
      problems = await unsettled(this.#scene).catch((error) => [String(error)]);
      looks.push(problems);
    }
    // Report only problems that persist: apps that crash again and again are in transition at any time.
    const last = looks.slice(-PERSISTENT);
    for (const problem of problems) {
      if (last.every((look) => look.includes(problem))) this.violate(problem);
    }
    for (const problem of await violations(this.#scene)) this.violate(problem);
    await this.#takeUp();
    // Report each problem once.
    if (problems.length > 0) {
      for (const { name } of this.#scene.apps) this.#scene.ledger.doubt(name);
    }
  }

  /** Accepts the present state of apps whose state was unknown. */
  async #takeUp(): Promise<void> {
    const list = await this.#scene.house.client.call("list");
    for (const [name, entry] of this.#scene.ledger.all()) {
      const mine = list.filter((it) => (it.config as { name: string }).name === name);
      if (this.#scene.ledger.upForOthers.has(name)) entry.desired = undefined;
      entry.exists = mine.length > 0;
      entry.instances = mine.length > 0 ? mine.length : undefined;
    }
    this.#scene.ledger.upForOthers.clear();
  }

  async #end(): Promise<void> {
    const { house, folder } = this.#scene;
    const { pid } = house;
    await house.client.call("shutdown").catch((error) =>
      this.violate(`shutdown: ${error.message}`)
    );
    await waitFor(() => !isAlive(pid), { what: `the daemon ${pid} to end after its shutdown` })
      .catch((error) => this.violate(error.message));
    for (const { pid, name, command } of living(folder)) {
      this.violate(`left after shutdown: ${name} ${pid} ${command}`);
      Deno.kill(pid, "SIGKILL");
    }
    for (const problem of await lineProblems(house.home, folder)) this.violate(problem);
  }

  violate(what: string): void {
    if (this.#found.has(what)) return;
    this.#found.add(what);
    this.#story.push(`VIOLATION ${what}`);
    console.log(`${new Date().toISOString().slice(11, 23)} VIOLATION ${what}`);
  }
}

async function main(args: string[]): Promise<number> {
  const number = (flag: string, otherwise: number) =>
    args.includes(flag) ? Number(args[args.indexOf(flag) + 1]) : otherwise;
  const [seed, minutes] = [number("--seed", Date.now() % 1e6), number("--minutes", 2)];
  console.log(`seed ${seed}, ${minutes} minutes`);
  const temp = tempHome();
  const home = `${temp.path}/home`;
  const folder = `${temp.path}/told`;
  for (const part of ["locks", "life", "counts", "watched", "selfish"]) {
    Deno.mkdirSync(`${folder}/${part}`, { recursive: true });
  }
  Deno.mkdirSync(`${home}/state`, { recursive: true, mode: 0o700 });
  Deno.chmodSync(home, 0o700);
  const canMount = Deno.build.os === "linux" && Deno.uid() === 0;
  const disk = canMount ? new SmallDisk(`${home}/state`, "8m") : undefined;
  // When run from sources, Deno exits if it cannot open the source files for an error message.
  await bundle(ROOT, `${ROOT}/main.ts`, `${temp.path}/program`);
  const house = new House(home, `${temp.path}/program/main.js`);
  await house.up();
  const { url } = await house.client.call("web_start", {
    // No port that the system gives to others while the daemon is down.
    listen: `127.0.0.1:${freePort()}`,
  });
  const chaos = new Chaos({
    ...{ random: new Random(seed), house, ledger: new Ledger(), folder },
    apps: chaosApps(folder, freePort()),
    webUrl: url,
  }, disk);
  try {
    await chaos.run(Date.now() + minutes * 60_000);
  } catch (error) {
    // What ends the run, such as a daemon that does not answer, is a finding like any other.
    chaos.violate(String(error));
  } finally {
    house.signal("SIGKILL");
    for (const { pid } of living(folder)) {
      try {
        Deno.kill(pid, "SIGKILL");
      } catch {
        // It has already exited.
      }
    }
    const keep = chaos.found > 0 || args.includes("--keep");
    if (keep && disk) {
      new Deno.Command("cp", { args: ["-a", `${home}/state`, `${temp.path}/state`] }).outputSync();
    }
    disk?.[Symbol.dispose]();
    if (keep) {
      Deno.writeTextFileSync(`${temp.path}/story`, chaos.story.join("\n"));
      console.log(`kept in ${temp.path}`);
    } else await temp[Symbol.asyncDispose]();
  }
  console.log(`seed ${seed}: ${chaos.found} violations`);
  return chaos.found === 0 ? 0 : 1;
}

Deno.exit(await main(Deno.args));
