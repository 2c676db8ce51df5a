import { assert, assertEquals } from "@std/assert";
import { isFree, takeLock, takeLockSoon } from "../../src/platform/lock.ts";
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
