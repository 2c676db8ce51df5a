/** Reboots the machine. */

import { equal, holds, type Scene, type Step } from "../scene.ts";

/** State before the reboot. */
let before: { pid: number; lines: number; boot: string };

export const REBOOT: readonly Step[] = [
  {
    name: "a reboot stops the apps in order, with the time that they need",
    async run(scene) {
      const boot = await scene.sh("cat /proc/sys/kernel/random/boot_id");
      before = { pid: (await scene.app("count")).pid, lines: scene.lines("count").length, boot };
      await scene.sh("procsup save");
      const ms = await scene.machine.end("reboot");
      equal(scene.lines("count").at(-1), "bye", "the last line of count");
      equal(scene.lines("slow").slice(-2).join(), "ending,bye", "the last lines of slow");
      return `down in ${(ms / 1000).toFixed(1)} s; both said bye`;
    },
  },
  {
    name: "after the boot the running apps are back, but not the stopped ones",
    async run(scene) {
      await scene.machine.boot();
      const boot = await scene.sh("cat /proc/sys/kernel/random/boot_id");
      if (boot === before.boot) throw new Error("The boot has the same id");
      await scene.until(
        "the apps run",
        async () =>
          (await scene.app("count")).state === "running" &&
          (await scene.app("slow")).state === "running",
      );
      equal((await scene.app("down")).state, "stopped", "down");
      const { pid, restarts } = await scene.app("count");
      return `count ${before.pid} → ${pid}, ${restarts} restarts; two: ${
        (await scene.app("two")).state
      }`;
    },
  },
  {
    name: "every logged line is there, once and in order",
    async run(scene) {
      await scene.until(
        "count writes again",
        () => Promise.resolve(scene.lines("count").length > before.lines + 20),
      );
      const { runs, lines } = countedRuns(scene.lines("count"));
      if (runs < 2) throw new Error(`${runs} runs in the log`);
      return `${lines} lines of ${runs} runs`;
    },
  },
];

/** The steps that uninstall procsup. */
export const UNINSTALL: readonly Step[] = [
  {
    name: "startup uninstall asks first; the apps keep running",
    async run(scene: Scene) {
      const { pid } = await scene.app("count");
      equal((await scene.try("procsup startup uninstall")).code, 2, "without --yes");
      const { stdout } = await scene.try("procsup startup uninstall --yes");
      holds(stdout, "✔ removed", "what is said");
      await scene.sh(`kill -0 ${pid}`);
      equal((await scene.try("procsup startup status")).code, 3, "status");
      const start = "procsup daemon --detach";
      await scene.sh(scene.user === undefined ? `systemd-run --scope -q ${start}` : start);
      equal((await scene.app("count")).pid, pid, "pid of count");
      await scene.sh("procsup shutdown --yes");
      return `count stayed pid ${pid}`;
    },
  },
];

/** Counts the runs in a log. Throws if the numbers of a run are not 1, 2, 3… to its end. */
export function countedRuns(lines: readonly string[]): { runs: number; lines: number } {
  let runs = 0;
  let last = 0;
  for (const [at, line] of lines.entries()) {
    if (line === "bye") continue;
    const expected = line === "1" ? 1 : last + 1;
    if (Number(line) !== expected) throw new Error(`Line ${at + 1} is ${line}, not ${expected}`);
    if (line === "1") runs++;
    last = expected;
  }
  return { runs, lines: lines.length };
}
