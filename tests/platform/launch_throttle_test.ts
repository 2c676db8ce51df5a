import { assert, assertEquals } from "@std/assert";
import { LaunchThrottle } from "../../src/platform/launch_throttle.ts";

const FOLDER = Deno.makeTempDirSync();
const SOCKET = `${FOLDER}/sock`;
addEventListener("unload", () => Deno.removeSync(FOLDER, { recursive: true }));

function block(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

Deno.test("LaunchThrottle pauses after much work, and lets waiters go in order", async () => {
  const throttle = new LaunchThrottle(SOCKET);
  const done: number[] = [];
  let turns = 0;
  const one = async (index: number) => {
    for (let full; (full = throttle.full) !== undefined;) await full;
    throttle.work(() => block(26));
    done.push(index);
  };
  const timer = setInterval(() => turns++, 0);
  await Promise.all(Array.from({ length: 12 }, (_, index) => one(index)));
  clearInterval(timer);
  assertEquals(done, Array.from({ length: 12 }, (_, index) => index));
  // The first 100 ms in one go, then a pause after each.
  assert(turns >= 6, `${turns} turns`);
});

Deno.test("LaunchThrottle does not delay a later or lone launch", async () => {
  const throttle = new LaunchThrottle(SOCKET);
  throttle.work(() => block(110));
  assert(throttle.full !== undefined);
  await throttle.full;
  assertEquals(throttle.full, undefined);
  throttle.work(() => block(20));
  block(30);
  assertEquals(throttle.full, undefined);
});

Deno.test("LaunchThrottle continues piece by piece after a busy loop prolonged a pause", async () => {
  const throttle = new LaunchThrottle(SOCKET);
  throttle.work(() => block(110));
  const pause = throttle.full;
  block(40);
  await pause;
  throttle.work(() => block(26));
  assert(throttle.full !== undefined);
  await throttle.full;
});

Deno.test("LaunchThrottle lets connections in during a pause that other work fills", async () => {
  const throttle = new LaunchThrottle(SOCKET);
  const path = `${FOLDER}/server`;
  using listener = Deno.listen({ transport: "unix", path });
  const accepted = listener.accept();
  let isAccepted = false;
  void accepted.then((connection) => {
    connection.close();
    isAccepted = true;
  });
  throttle.work(() => block(110));
  const connecting = Deno.connect({ transport: "unix", path });
  let pauses = 0;
  for (; !isAccepted && pauses < 9; pauses++) {
    const pause = throttle.full;
    // What else a launch does.
    block(10);
    await pause;
    throttle.work(() => block(26));
  }
  (await connecting).close();
  await accepted;
  assert(pauses <= 2, `only in pause ${pauses}`);
  assertEquals([...Deno.readDirSync(FOLDER)].filter(({ name }) => name === "sock"), []);
});
