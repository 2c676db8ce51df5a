/** Installs the unit, which takes over from a running daemon. */

import { equal, holds, type Scene, type Step } from "../scene.ts";

/** An app that counts, and says bye on SIGTERM. */
const COUNT =
  'trap "echo bye; exit 0" TERM\ni=0\nwhile :; do i=$((i+1)); echo $i; sleep 0.05; done';

/** An app that stops slowly. */
const SLOW = 'trap "echo ending; sleep 3; echo bye; exit 0" TERM\nwhile :; do sleep 0.1; done';

export const INSTALL: readonly Step[] = [
  {
    name: "apps start under a daemon that was started by hand",
    async run(scene) {
      const count = scene.script("count.sh", COUNT);
      const start = `procsup start ${count} --name count`;
      // Commands of a user under systemd run in the scope of the session.
      await scene.sh(scene.user === undefined ? `systemd-run --scope -q ${start}` : start);
      return `count is pid ${(await scene.app("count")).pid}`;
    },
  },
  {
    name: "startup install shows everything, and writes nothing without --yes",
    async run(scene) {
      const { code, stderr } = await scene.try("procsup startup install");
      equal(code, 2, "exit code");
      holds(stderr, "Type=notify", "what is shown");
      holds(stderr, "Nothing was written", "what is said");
      equal((await scene.try("procsup startup status")).code, 3, "status");
      return "exit code 2, nothing there";
    },
  },
  {
    name: "startup install --yes starts the unit; it replaces the daemon started by hand",
    async run(scene) {
      const { pid } = await scene.app("count");
      const { code, stdout, stderr } = await scene.try("procsup startup install --yes");
      equal(code, 0, `exit code (${stderr})`);
      holds(stderr, "it replaces the running daemon", "the plan");
      equal(await scene.show("ActiveState"), "active", "the unit");
      equal((await scene.app("count")).pid, pid, "pid of count");
      const record = await scene.sh("cat ~/.procsup/state/daemon.json");
      holds(record, '"service":"systemd"', "the daemon's record");
      return `${stdout.trim()}; count still pid ${pid}`;
    },
  },
  {
    name: "systemd finds nothing wrong with the unit",
    async run(scene) {
      const path = await scene.show("FragmentPath");
      const flag = scene.user === undefined ? "" : "--user ";
      const { stdout, stderr } = await scene.try(`systemd-analyze ${flag}verify ${path}`);
      // It exits with 0 even if there are warnings.
      equal(`${stdout}${stderr}`.trim(), "", "systemd-analyze verify");
      const version = (await scene.sh("systemctl --version")).split("\n")[0];
      return `${version}; ${await exposure(scene)}`;
    },
  },
  {
    name: "the unit is correct: notify, watchdog, only the daemon is killed",
    async run(scene) {
      const wanted = { Type: "notify", KillMode: "process", Restart: "always", Delegate: "yes" };
      for (const [property, value] of Object.entries(wanted)) {
        equal(await scene.show(property), value, property);
      }
      equal(await scene.show("WatchdogUSec"), "2min", "WatchdogUSec");
      equal(await scene.show("OOMPolicy"), "continue", "OOMPolicy");
      equal((await scene.try("procsup startup status")).code, 0, "startup status");
      return `limit of open files ${await scene.show("LimitNOFILE")}`;
    },
  },
  {
    name: "apps inherit neither the daemon's socket nor its ignored signals",
    async run(scene) {
      const slow = scene.script("slow.sh", SLOW);
      await scene.sh(`procsup start ${slow} --name slow --stop-timeout 20s`);
      await scene.sh(`procsup start ${scene.script("down.sh", COUNT)} --name down`);
      await scene.sh("procsup stop down");
      const { pid } = await scene.app("slow");
      const environment = await scene.sh(`tr '\\0' '\\n' </proc/${pid}/environ`);
      for (const name of ["NOTIFY_SOCKET", "INVOCATION_ID", "WATCHDOG_USEC", "SYSTEMD_EXEC_PID"]) {
        if (environment.includes(`${name}=`)) throw new Error(`It inherited ${name}`);
      }
      const ignored = await scene.sh(`sed -n 's/SigIgn:\\s*//p' /proc/${pid}/status`);
      // The higher bits are used by the C library.
      equal(BigInt(`0x${ignored}`) & 0x7fffffffn, 0n, "ignored signals");
      return `${environment.split("\n").length} variables, none of systemd's`;
    },
  },
  {
    name: "doctor finds no problem with the unit",
    async run(scene) {
      const findings: { check: string; status: string; says: string }[] = JSON.parse(
        (await scene.try("procsup doctor --json")).stdout,
      );
      const boot = findings.filter(({ check }) => ["boot", "service"].includes(check));
      for (const { says, status } of boot) equal(status, "ok", says);
      return `${boot[0]?.says}; ${findings.length} findings`;
    },
  },
];

async function exposure(scene: Scene): Promise<string> {
  const { stdout } = await scene.try("systemd-analyze security --no-pager procsup.service");
  return /Overall exposure level[^:]*: (.*)/.exec(stdout)?.[1] ?? "no exposure level for a user's";
}
