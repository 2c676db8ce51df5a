import { assert, assertEquals, assertThrows } from "@std/assert";
import { isFree, removeLock, takeLock, takeLockSoon } from "../../src/platform/files/lock.ts";
import { tempHome } from "../support/temp_home.ts";

Deno.test("takeLock() holds a file exclusively until it is disposed of", async () => {
  await using temp = tempHome();
  const path = `${temp.path}/lock`;
  const lock = takeLock(path)!;
  assert(!isFree(path));
  assertEquals(takeLock(path), undefined);
  lock[Symbol.dispose]();
  assert(isFree(path));
});

const FORKING = `
  const forks = () => new Deno.Command("/bin/true", { stdin: "null" }).output().then(forks);
  forks();
  postMessage("up");
`;

Deno.test("takeLock() takes the file that is there, if the one it opened is removed meanwhile", async () => {
  await using home = tempHome();
  const path = `${home.path}/lock`;
  const { tryLockSync } = Deno.FsFile.prototype;
  Deno.FsFile.prototype.tryLockSync = function (exclusive) {
    Deno.FsFile.prototype.tryLockSync = tryLockSync;
    Deno.removeSync(path);
    return this.tryLockSync(exclusive);
  };
  using lock = takeLock(path);
  assertEquals(lock?.isCurrent, true);
});

Deno.test("removeLock() leaves the file of another holder", async () => {
  await using home = tempHome();
  const path = `${home.path}/lock`;
  const lock = takeLock(path)!;
  Deno.removeSync(path);
  using other = takeLock(path)!;
  removeLock(path, lock);
  assertEquals(other.isCurrent, true);
});

Deno.test("a released lock is free even while another thread forks", async () => {
  await using temp = tempHome();
  const path = `${temp.path}/lock`;
  const url = `data:text/javascript,${encodeURIComponent(FORKING)}`;
  const worker = new Worker(url, { type: "module" });
  await new Promise((resolve) => worker.onmessage = resolve);
  try {
    for (let round = 0; round < 20_000; round++) {
      const lock = takeLock(path);
      assert(lock !== undefined, `not free in round ${round}`);
      lock[Symbol.dispose]();
    }
  } finally {
    worker.terminate();
  }
});

Deno.test("takeLockSoon() waits for a short holder, but not for a long one", async () => {
  await using temp = tempHome();
  const path = `${temp.path}/lock`;
  const other = takeLock(path)!;
  setTimeout(() => other[Symbol.dispose](), 50);
  using lock = await takeLockSoon(path, 200);
  assert(lock !== undefined);
  assertEquals(await takeLockSoon(path, 200), undefined);
});

Deno.test("takeLock() refuses a link and a FIFO, and creates nothing through a link", async () => {
  await using home = tempHome();
  const [elsewhere, missing, link, dangling, fifo] = [
    "elsewhere",
    "missing",
    "link",
    "dangling",
    "fifo",
  ].map((name) => `${home.path}/${name}`);
  Deno.writeTextFileSync(elsewhere!, "kept");
  Deno.symlinkSync(elsewhere!, link!);
  Deno.symlinkSync(missing!, dangling!);
  new Deno.Command("mkfifo", { args: [fifo!] }).outputSync();
  for (const path of [link!, dangling!, fifo!]) {
    assertThrows(() => takeLock(path), Error, "is not a regular file");
  }
  assertEquals(Deno.readTextFileSync(elsewhere!), "kept");
  assertThrows(() => Deno.lstatSync(missing!), Deno.errors.NotFound);
});
