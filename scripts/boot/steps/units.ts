/** Apps that systemd itself runs, by `--on systemd`. */

import { equal, holds, type Scene, type Step } from "../scene.ts";

const FILE = `processes:
  count:
    command: /bin/sh -c 'trap "echo bye; exit 0" TERM; i=0; while :; do i=$((i+1)); echo $i; sleep 0.2; done'
    env: { COLOR: blue }
  pair: { command: sleep 1000, instances: 2, depends_on: [count] }
  once: { command: sleep 1000, restart_policy: never }
  echo: { command: /bin/sh -c 'echo fds=$LISTEN_FDS; exec sleep 1000', sockets: ["127.0.0.1:7070"] }
cron:
  tick: { schedule: "* * * * * *", command: echo ticked }
  twin: { schedule: "*/2 * * * * *", command: /bin/sh -c 'echo twice; exec sleep 1000', instances: 2 }
`;

/** The steps, as root. */
export const UNITS: readonly Step[] = [
  {
    name: "up --on systemd starts services, sockets and timers",
    async run(scene) {
      await write(scene, FILE);
      await scene.sh("cd /srv/shop && procsup up --on systemd");
      const list = await scene.sh("cd /srv/shop && procsup list --on systemd -o name");
      const jobs = "tick,tick.timer,twin@1,twin@1.timer,twin@2,twin@2.timer";
      equal(list.split("\n").toSorted().join(), `count,echo,once,pair@1,pair@2,${jobs}`, "list");
      for (const unit of ["count", "pair@1", "pair@2", "echo"]) {
        equal(await scene.sh(`systemctl is-active shop_${unit}`), "active", unit);
      }
      for (const [unit, text] of [["tick", "ticked"], ["twin@1", "twice"], ["twin@2", "twice"]]) {
        await scene.until(
          `${unit} ran`,
          async () => (await scene.sh(`journalctl -u shop_${unit} -o cat`)).includes(text!),
        );
      }
      const ticks = () => scene.sh("journalctl -u shop_tick -o cat");
      // More often than an app may start in its restart_window.
      await scene.until("12 runs of tick", async () => (await ticks()).split("ticked").length > 12);
      equal((await ticks()).includes("repeated too quickly"), false, "a limit of starts for tick");
      holds(await scene.sh("cd /srv/shop && procsup logs tick --on systemd"), "ticked", "logs");
      holds(await scene.sh("journalctl -u shop_echo -o cat"), "fds=1", "the log of echo");
      const { stdout, stderr } = await scene.try(
        "systemd-analyze verify /etc/systemd/system/shop_*.service",
      );
      equal(stdout + stderr, "", "systemd-analyze verify");
      return list.replaceAll("\n", " ");
    },
  },
  {
    name: "up again restarts changed apps, and removes deleted ones",
    async run(scene) {
      const pid = await scene.sh("systemctl show -P MainPID shop_count");
      const other = await scene.sh("systemctl show -P MainPID shop_pair@1");
      const job = await scene.sh("systemctl show -P MainPID shop_twin@1");
      await write(
        scene,
        FILE.replace(/ {2}echo:.*\n/, "").replace("sleep 1000, inst", "sleep 2000, inst"),
      );
      await scene.sh("cd /srv/shop && procsup up --on systemd");
      equal(await scene.sh("systemctl show -P MainPID shop_count"), pid, "pid of count");
      equal(await scene.sh("systemctl show -P MainPID shop_twin@1"), job, "pid of twin@1");
      const now = await scene.sh("systemctl show -P MainPID shop_pair@1");
      if (now === other) throw new Error("pair was not restarted");
      equal((await scene.try("systemctl cat shop_echo.service shop_echo.socket")).code, 1, "echo");
      return `count still pid ${pid}, pair ${other} → ${now}`;
    },
  },
  {
    name: "scale, reload, why and a failed start, on systemd",
    async run(scene) {
      await scene.sh("cd /srv/shop && procsup scale pair +1 --on systemd");
      equal(await scene.sh("systemctl is-active shop_pair@3"), "active", "pair@3");
      await scene.sh("cd /srv/shop && procsup scale pair 1 --on systemd");
      equal(
        (await scene.try("systemctl is-active shop_pair@2")).stdout.trim(),
        "inactive",
        "pair@2",
      );
      await scene.sh("cd /srv/shop && procsup scale pair 0 --on systemd");
      holds(await scene.sh("cd /srv/shop && procsup list pair --on systemd"), "no copies", "list");
      await scene.sh("cd /srv/shop && procsup scale pair 1 --on systemd");
      const timed = await scene.try("cd /srv/shop && procsup scale twin +1 --on systemd");
      equal(timed.code, 6, "exit code of scale twin");
      await scene.sh("cd /srv/shop && procsup reload count --on systemd");
      holds(
        await scene.sh("cd /srv/shop && procsup why count --on systemd"),
        "active (running)",
        "why",
      );
      await write(
        scene,
        `${FILE}  bad: { schedule: "@yearly", command: "true" }\n`.replace(
          "processes:\n",
          "processes:\n  wrong: { command: /bin/sh -c 'sleep 1000 <mended', restart_delay: 1ms }\n",
        ),
      );
      const { code, stdout, stderr } = await scene.try("cd /srv/shop && procsup up --on systemd");
      equal(code, 1, "exit code");
      holds(stdout + stderr, "✘ wrong  failed (failed): exit-code", "what is said");
      await scene.sh("cd /srv/shop && touch mended && procsup reload wrong --on systemd");
      equal(await scene.sh("systemctl is-active shop_wrong"), "active", "wrong, mended");
      return stderr.trim().split("\n").at(-1)!;
    },
  },
  {
    name: "--on systemd rejects unknown apps and targets of the system, and keeps stacks apart",
    async run(scene) {
      const unknown = await scene.try("cd /srv/shop && procsup logs nosuch --on systemd");
      equal(unknown.code, 4, "exit code");
      holds(unknown.stderr, 'The stack "shop" has no app "nosuch"', "what is said");
      await write(scene, "processes: { eu-api: { command: /bin/sleep 1000 } }\n");
      await scene.sh("cd /srv/shop && procsup up --on systemd");
      const pid = await scene.sh("systemctl show -P MainPID shop_eu-api");
      await write(scene, "processes: { api: { command: /bin/sleep 2000 } }\n");
      await scene.sh("cd /srv/shop && procsup up --on systemd --stack shop-eu");
      equal(await scene.sh("systemctl is-active shop-eu_api"), "active", "api of shop-eu");
      equal(await scene.sh("systemctl show -P MainPID shop_eu-api"), pid, "pid of eu-api");
      await scene.sh("cd /srv/shop && procsup down --on systemd --stack shop-eu");
      equal(await scene.sh("systemctl show -P MainPID shop_eu-api"), pid, "pid of eu-api");
      const system = await scene.try("cd /srv/shop && procsup up --on systemd --stack network");
      equal(system.code, 6, "exit code");
      holds(system.stderr, 'network.target" was not made by this stack', "what is said");
      return system.stderr.trim().split("\n")[0]!;
    },
  },
  {
    name: "down --on systemd leaves no unit",
    async run(scene) {
      await scene.sh("cd /srv/shop && procsup down --on systemd");
      equal(await scene.sh("ls /etc/systemd/system | grep shop || true"), "", "units");
      equal(await scene.sh("systemctl list-units --all --plain --no-legend 'shop*'"), "", "loaded");
      return "none";
    },
  },
];

async function write(scene: Scene, text: string): Promise<void> {
  await scene.sh("mkdir -p /srv/shop");
  Deno.writeTextFileSync(`${scene.machine.root}/srv/shop/procsup.yaml`, text);
}
