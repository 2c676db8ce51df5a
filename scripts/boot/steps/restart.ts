/** Restarts, kills, hangs and stops the daemon while the machine is up. */

import { sleep } from "../../../src/platform/clock.ts";
import { equal, holds, type Step } from "../scene.ts";

/** A short watchdog interval for the test; the default is two minutes. */
const WATCHDOG = "mkdir -p $D && printf '[Service]\\nWatchdogSec=3\\n' >$D/watchdog.conf";

export const RESTART: readonly Step[] = [
  {
    name: "systemctl restart leaves the apps alone",
    run: (scene) => scene.survives("count", () => scene.systemctl("restart procsup")),
  },
  {
    name: "a killed daemon comes back, and adopts its apps",
    run: (scene) =>
      scene.survives("count", () => scene.systemctl("kill -s KILL --kill-whom=main procsup")),
  },
  {
    name: "a hanging daemon is replaced by the watchdog",
    async run(scene) {
      const folder = scene.user === undefined ? "/etc/systemd/system" : "~/.config/systemd/user";
      await scene.sh(`D=${folder}/procsup.service.d; ${WATCHDOG}`);
      await scene.systemctl("daemon-reload");
      await scene.systemctl("restart procsup");
      await sleep(7000);
      equal(await scene.show("NRestarts"), "0", "restarts of a daemon that lives");
      const seen = await scene.survives("count", async () => {
        await scene.sh(`kill -STOP ${await scene.show("MainPID")}`);
      });
      await scene.sh(`rm -r ${folder}/procsup.service.d`);
      await scene.systemctl("daemon-reload");
      return seen;
    },
  },
  {
    name: "systemctl reload makes the daemon read its files again",
    async run(scene) {
      const file = `${scene.folder}/procsup.yaml`;
      const app = 'entrypoint: /bin/sleep, args: ["1000"]';
      Deno.writeTextFileSync(file, `processes:\n  one: { ${app} }\n`);
      await scene.sh("procsup up ~/procsup.yaml");
      Deno.writeTextFileSync(file, `processes:\n  one: { ${app} }\n  two: { ${app} }\n`);
      const daemon = await scene.show("MainPID");
      await scene.systemctl("reload procsup");
      await scene.until("two runs", async () => (await scene.app("two")).state === "running");
      equal(await scene.show("MainPID"), daemon, "MainPID");
      return "two was added, the daemon is the same";
    },
  },
  {
    name: "systemctl stop leaves the apps running, and start adopts them",
    async run(scene) {
      const { pid } = await scene.app("count");
      await scene.systemctl("stop procsup");
      equal((await scene.try("procsup ping")).code, 5, "ping");
      const before = scene.lines("count").length;
      await scene.until(
        "it keeps counting",
        () => Promise.resolve(scene.lines("count").length > before + 5),
      );
      await scene.systemctl("start procsup");
      equal((await scene.app("count")).pid, pid, "pid of count");
      return `count went on from ${before} without a daemon`;
    },
  },
  {
    name: "systemctl kill without --kill-whom kills the apps too, and they are started again",
    async run(scene) {
      const { pid } = await scene.app("slow");
      // systemd 252 reports an error if a process ends while it lists them.
      await scene.systemctl("kill -s KILL procsup").catch(() => {});
      await scene.until("slow runs again", async () => {
        const { pid: now, state } = await scene.app("slow");
        return state === "running" && now !== pid;
      });
      equal((await scene.app("down")).state, "stopped", "what was stopped");
      return `slow ${pid} → ${(await scene.app("slow")).pid}`;
    },
  },
  {
    name: "upgrade --force restarts through the service manager",
    run: (scene) => scene.survives("count", () => scene.sh("procsup upgrade --force")),
  },
  {
    name: "systemd logged no warning about the unit, and no failed start",
    async run(scene) {
      const flag = scene.user === undefined ? "" : "--user ";
      const journal = await scene.sh(`journalctl ${flag}-u procsup --no-pager -o cat -b || true`);
      holds(journal || "daemon is running", "daemon is running", "the journal");
      const bad = /^.*(Unknown key|Failed to (?!send signal)|start-limit|timed out).*$/im.exec(
        journal,
      )?.[0];
      if (bad !== undefined && !/watchdog/i.test(bad)) throw new Error(bad);
      return `${journal.split("\n").length} lines`;
    },
  },
];
