import { assert, assertEquals } from "@std/assert";
import { LaunchThrottle } from "../../src/platform/launch/launch_throttle.ts";
import { FakeClock } from "../support/fake_clock.ts";

const FOLDER = Deno.makeTempDirSync();
const SOCKET = `${FOLDER}/sock`;
addEventListener("unload", () => Deno.removeSync(FOLDER, { recursive: true }));

Deno.test("LaunchThrottle pauses after much work, and lets waiters go in order", async () => {
  const clock = new FakeClock();
  const throttle = new LaunchThrottle(SOCKET, clock);
  const done: number[] = [];
  const pauses = new Set<Promise<void>>();
  const one = async (index: number) => {
    for (let full; (full = throttle.full) !== undefined;) {
      pauses.add(full);
      await full;
    }
    throttle.work(() => clock.advance(26));
    done.push(index);
  };
  await Promise.all(Array.from({ length: 12 }, (_, index) => one(index)));
  assertEquals(done, Array.from({ length: 12 }, (_, index) => index));
  // The first 100 ms in one go, then a pause after each.
  assertEquals(pauses.size, 8);
});

Deno.test("LaunchThrottle does not delay a later or lone launch", async () => {
  const clock = new FakeClock();
  const throttle = new LaunchThrottle(SOCKET, clock);
  throttle.work(() => clock.advance(110));
  assert(throttle.full !== undefined);
  await throttle.full;
  assertEquals(throttle.full, undefined);
  throttle.work(() => clock.advance(20));
  clock.advance(30);
  assertEquals(throttle.full, undefined);
});

Deno.test("LaunchThrottle continues piece by piece after a busy loop prolonged a pause", async () => {
  const clock = new FakeClock();
  const throttle = new LaunchThrottle(SOCKET, clock);
  throttle.work(() => clock.advance(110));
  const pause = throttle.full;
  clock.advance(40);
  await pause;
  throttle.work(() => clock.advance(26));
  assert(throttle.full !== undefined);
  await throttle.full;
});

Deno.test("LaunchThrottle lets connections in during a pause that other work fills", async () => {
  const clock = new FakeClock();
  const throttle = new LaunchThrottle(SOCKET, clock);
  const path = `${FOLDER}/server`;
  using listener = Deno.listen({ transport: "unix", path });
  const accepted = listener.accept();
  let isAccepted = false;
  void accepted.then((connection) => {
    connection.close();
    isAccepted = true;
  });
  throttle.work(() => clock.advance(110));
  const connecting = Deno.connect({ transport: "unix", path });
  let pauses = 0;
  for (; !isAccepted && pauses < 9; pauses++) {
    const pause = throttle.full;
    // What else a launch does.
    for (const until = performance.now() + 10; performance.now() < until;);
    await pause;
    throttle.work(() => clock.advance(26));
  }
  (await connecting).close();
  await accepted;
  assert(pauses <= 2, `only in pause ${pauses}`);
  assertEquals([...Deno.readDirSync(FOLDER)].filter(({ name }) => name === "sock"), []);
});
