/** Injects faults: flipped bits, removed files, a full disk, too few descriptors. */

import { sleep } from "../../../src/platform/clock.ts";
import { lstatIfAny } from "../../../src/platform/files/stat.ts";
import { flip } from "../../../tests/support/damage.ts";
import type { SmallDisk } from "../../../tests/support/small_disk.ts";
import { waitFor } from "../../../tests/support/wait_for.ts";
import type { Scene } from "./asking.ts";
import { operate } from "./operations.ts";
import { sizeOf } from "./processes.ts";

/** A copy of a record follows after a second at most. */
const COPIED_MS = 1100;

/** How long to wait for requests: a start that needs a dependency may wait as long as the fault. */
const PATIENCE_MS = 2000;

/** Time in which a daemon must restore removed files. */
const PUT_BACK_MS = 5000;

/** Files that may be removed together while a daemon runs. */
const REMOVED: readonly (readonly string[])[] = [
  ["daemon.lock"],
  ["procsup.sock"],
  ["token"],
  ["daemon.lock", "procsup.sock", "token"],
  ["state/processes"],
  ["run"],
  ["daemon.log", "events.jsonl"],
];

/** Does one random kind of damage and returns its name. On return a daemon is running. */
export async function damage(scene: Scene, disk: SmallDisk | undefined): Promise<string> {
  const { random, apps, ledger } = scene;
  // Counters may be slightly older afterwards.
  for (const { name } of apps) ledger.forgotten.set(name, Date.now());
  const dice = random.next();
  if (dice < 0.35) return await flipBits(scene);
  if (dice < 0.55) return await removeFiles(scene);
  if (dice < 0.7 && Deno.build.os === "linux") return await shortenDescriptors(scene);
  if (disk === undefined) return await removeFiles(scene);
  return await spoilDisk(scene, disk, dice < 0.85 ? "full" : "read-only");
}

/** Flips one bit in each of some state files or their copies while no daemon runs. */
async function flipBits({ random, house, say, webUrl }: Scene): Promise<string> {
  await sleep(COPIED_MS);
  await house.end("SIGKILL");
  const files = stateFiles(`${house.home}/state`).concat(stateFiles(house.home, false));
  const pairs = new Map(files.map((path) => [path.replace(/\.copy$/, ""), path]));
  for (const path of pairs.keys()) {
    if (random.chance(0.5)) continue;
    const victim = random.pick(files.filter((one) => one === path || one === `${path}.copy`));
    const { size } = Deno.statSync(victim);
    if (size === 0) continue;
    const bit = random.whole(0, size * 8 - 1);
    say(`! bit ${bit} of ${victim}`);
    flip(victim, bit);
  }
  await house.up();
  // The web surface stays closed without its settings.
  const { status } = await house.client.call("web_status");
  if (status === "stopped") {
    await house.client.call("web_start", { listen: new URL(webUrl).host });
  }
  return "bits flipped";
}

async function removeFiles({ random, house, say, violate }: Scene): Promise<string> {
  const files = random.pick(REMOVED);
  say(`! removed: ${files}`);
  for (const file of files) Deno.removeSync(`${house.home}/${file}`, { recursive: true });
  const paths = files.filter((file) => !/\.log|events/.test(file))
    .map((file) => `${house.home}/${file}`);
  try {
    await waitFor(() => paths.every((path) => lstatIfAny(path) !== undefined), {
      what: "it to be restored",
      timeoutMs: PUT_BACK_MS,
    });
  } catch {
    violate(`${files} was removed, and is not restored`);
  }
  await house.up();
  return "files removed";
}

/** Makes the disk of the state refuse writes while apps are operated or the daemon is killed. */
async function spoilDisk(scene: Scene, disk: SmallDisk, how: "full" | "read-only") {
  const { random, house, say } = scene;
  say(`! disk ${how}`);
  if (how === "full") disk.fill();
  else await waitFor(() => disk.remount("ro"), { what: "a moment in which nothing is written" });
  let under: { readonly rest?: Promise<unknown> } = {};
  if (random.chance(0.5)) {
    await sleep(random.whole(100, 1500));
    await house.end("SIGKILL");
    await house.up();
  } else under = await operateOften(scene);
  if (how === "full") disk.free();
  else disk.remount("rw");
  say("! disk as before");
  await under.rest;
  return `disk ${how}`;
}

/** Lets the daemon open only a few more files while apps are operated. */
async function shortenDescriptors(scene: Scene): Promise<string> {
  const { random, house, say } = scene;
  const before = /^Max open files\s+(\d+)/m.exec(
    Deno.readTextFileSync(`/proc/${house.pid}/limits`),
  )!;
  const few = sizeOf(house.pid).fds + random.whole(0, 12);
  say(`! ${few} descriptors`);
  limit(house.pid, few);
  const { rest } = await operateOften(scene);
  limit(house.pid, Number(before[1]));
  say("! descriptors as before");
  await rest;
  return "few descriptors";
}

function limit(pid: number, descriptors: number): void {
  const args = ["--pid", String(pid), `--nofile=${descriptors}:`];
  new Deno.Command("prlimit", { args }).outputSync();
}

/** Resolves when some requests have finished, or wait for the end of the fault; returns all of them. */
async function operateOften(scene: Scene): Promise<{ readonly rest: Promise<unknown> }> {
  const under: Promise<void>[] = [];
  for (let count = scene.random.whole(2, 6); count > 0; count--) {
    under.push(operate(scene));
    await Promise.race([under.at(-1), sleep(PATIENCE_MS)]);
  }
  return { rest: Promise.all(under) };
}

/** State files of a folder, without logs, locks, temporary files and quarantined files. */
function stateFiles(folder: string, below = true): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isFile, isDirectory }) => {
    const path = `${folder}/${name}`;
    if (isDirectory) return below ? stateFiles(path) : [];
    return isFile && !/\.(log|lock|tmp|next)$|unreadable|filler/.test(name) ? [path] : [];
  }).sort();
}
