// deno-lint-ignore-file no-console
/**
 * Tests procsup under a booted systemd: installed, killed, hung, stopped, rebooted, removed.
 *
 * `deno run -A scripts/systemd_boot.ts [--suite NAME] [--cache DIR] [--executable FILE] [--keep]`
 *
 * Needs root, debootstrap and systemd-nspawn; without them it prints a line and exits with 0. The root
 * file system of a release (by default this machine's) is created once in the cache, in about a minute.
 */

import { parseArgs } from "node:util";
import { buildPortable } from "./compile/portable.ts";
import { Machine } from "./boot/machine.ts";
import { cachedRoot, copyRoot, ownSuite } from "./boot/root.ts";
import { Scene, type Step } from "./boot/scene.ts";
import { GROUPS } from "./boot/steps/groups.ts";
import { INSTALL } from "./boot/steps/install.ts";
import { REBOOT, UNINSTALL } from "./boot/steps/reboot.ts";
import { RESTART } from "./boot/steps/restart.ts";
import { UNITS } from "./boot/steps/units.ts";

const ROOT = import.meta.dirname!.replace(/\/scripts$/, "");
const TOOLS = ["debootstrap", "systemd-nspawn", "nsenter", "apt-get"];
const USER = "keeper";

const { values: args } = parseArgs({
  options: {
    suite: { type: "string" },
    cache: { type: "string", default: `${Deno.env.get("TMPDIR") ?? "/tmp"}/procsup-boot` },
    executable: { type: "string" },
    keep: { type: "boolean", default: false },
  },
});

function missing(): string | undefined {
  if (Deno.build.os !== "linux" || Deno.uid() !== 0) return "root on Linux";
  return TOOLS.find((tool) =>
    !["/usr/sbin", "/usr/bin", "/sbin", "/bin"].some((folder) => {
      try {
        return Deno.statSync(`${folder}/${tool}`).isFile;
      } catch {
        return false;
      }
    })
  );
}

/**
 * Runs steps in order and returns the number of failures. Steps after a failure still run, and may fail
 * because of it.
 */
async function play(scene: Scene, steps: readonly Step[]): Promise<number> {
  let failed = 0;
  for (const { name, run } of steps) {
    const from = performance.now();
    const [mark, said] = await run(scene).then(
      (seen) => ["ok    ", seen],
      (error: Error) => ["FAILED", error.message],
    );
    if (mark === "FAILED") failed++;
    const seconds = ((performance.now() - from) / 1000).toFixed(1);
    console.log(`${mark}  ${scene.user ?? "root"}: ${name} (${seconds} s)\n        ${said}`);
  }
  return failed;
}

async function scenario(machine: Machine): Promise<number> {
  const root = new Scene(machine);
  await machine.boot();
  console.log(
    await root.sh("systemctl --version | head -n1; cat /sys/fs/cgroup/cgroup.controllers"),
  );
  let failed = await play(root, [
    ...[...INSTALL, ...GROUPS, ...RESTART, ...REBOOT, ...UNINSTALL, ...UNITS],
  ]);
  await root.sh(`useradd -m -s /bin/sh ${USER} && loginctl enable-linger ${USER}`);
  const user = new Scene(machine, USER);
  await user.until(
    "a service manager of the user's",
    async () => (await user.try("systemctl --user is-system-running")).stdout.trim() === "running",
  );
  failed += await play(user, [...INSTALL, ...RESTART, ...REBOOT, ...UNINSTALL]);
  return failed;
}

async function main(): Promise<number> {
  const lack = missing();
  if (lack !== undefined) {
    console.log(`systemd_boot: skipped, it needs ${lack}`);
    return 0;
  }
  const suite = args.suite ?? ownSuite();
  const base = await cachedRoot(args.cache, suite);
  const work = Deno.makeTempDirSync({ dir: args.cache, prefix: "run-" });
  try {
    const executable = args.executable ?? `${work}/procsup`;
    if (args.executable === undefined) await buildPortable(ROOT, executable, "gzip");
    await copyRoot(base, `${work}/root`);
    Deno.copyFileSync(executable, `${work}/root/usr/local/bin/procsup`);
    Deno.chmodSync(`${work}/root/usr/local/bin/procsup`, 0o755);
    await using machine = new Machine(`${work}/root`);
    const failed = await scenario(machine);
    console.log(failed === 0 ? "\nAll good" : `\n${failed} failed`);
    return failed === 0 ? 0 : 1;
  } finally {
    if (args.keep) console.log(`Kept: ${work}`);
    else Deno.removeSync(work, { recursive: true });
  }
}

Deno.exit(await main());
