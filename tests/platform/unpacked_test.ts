import { assertEquals } from "@std/assert";
import { holdUnpacked, pruneUnpacked } from "../../src/platform/unpacked.ts";
import { takeLock } from "../../src/platform/files/lock.ts";
import { tempHome } from "../support/temp_home.ts";

const HOUR_MS = 3_600_000;
const [OWN, OLD, FRESH, LOCKED, RUN] = ["0", "1", "2", "3", "4"].map((digit) => digit.repeat(64));

function version(cache: string, name: string, hours: number): string {
  const folder = `${cache}/${name}`;
  Deno.mkdirSync(folder);
  Deno.writeTextFileSync(`${folder}/.used`, "");
  const then = (Date.now() - hours * HOUR_MS) / 1000;
  Deno.utimeSync(`${folder}/.used`, then, then);
  return folder;
}

Deno.test("pruneUnpacked() removes only version folders that were not held, running or started for a day", async () => {
  await using temp = tempHome();
  const own = version(temp.path, OWN!, 48);
  version(temp.path, OLD!, 25);
  version(temp.path, FRESH!, 23);
  version(temp.path, "something else", 48);
  using _held = takeLock(`${version(temp.path, LOCKED!, 48)}/.used`)!;
  const run = version(temp.path, RUN!, 48);
  Deno.copyFileSync("/bin/sleep", `${run}/deno`);
  const child = new Deno.Command(`${run}/deno`, { args: ["100"] }).spawn();
  assertEquals(pruneUnpacked(own), [OLD]);
  assertEquals(pruneUnpacked(own, Date.now() + 2 * HOUR_MS), [FRESH]);
  child.kill("SIGKILL");
  await child.status;
  assertEquals(pruneUnpacked(own), [RUN]);
});

Deno.test("pruneUnpacked() removes the remains of an interrupted extraction", async () => {
  await using temp = tempHome();
  const own = version(temp.path, OWN!, 0);
  const left = `${temp.path}/.new.abc123`;
  Deno.mkdirSync(left);
  assertEquals(pruneUnpacked(own), []);
  assertEquals(pruneUnpacked(own, Date.now() + 25 * HOUR_MS), [".new.abc123"]);
});

Deno.test("pruneUnpacked() leaves folders of other users alone", {
  ignore: Deno.uid() !== 0,
}, async () => {
  await using temp = tempHome();
  const own = version(temp.path, OWN!, 48);
  const theirs = version(temp.path, OLD!, 48);
  Deno.removeSync(`${theirs}/.used`);
  await new Deno.Command("mkfifo", { args: [`${theirs}/.used`] }).output();
  Deno.utimeSync(`${theirs}/.used`, 0, 0);
  Deno.chownSync(theirs, 65532, 65532);
  assertEquals(pruneUnpacked(own), []);
});

Deno.test("holdUnpacked() keeps a folder from being pruned, however long ago it was last started", async () => {
  await using temp = tempHome();
  const folder = `${temp.path}/${OLD}`;
  Deno.mkdirSync(folder);
  holdUnpacked(folder);
  assertEquals(pruneUnpacked(`${temp.path}/${OWN}`, Date.now() + 48 * HOUR_MS), []);
});

Deno.test("holdUnpacked() does nothing without write permission", () => {
  holdUnpacked("/proc/nowhere");
});
