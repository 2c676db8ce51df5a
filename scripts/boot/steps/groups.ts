/** Control groups of apps, and limits if the machine has the controllers. */

import { equal, type Scene, type Step } from "../scene.ts";

const LIMITS = `processes:
  bounded:
    entrypoint: /bin/sh
    args: ["-c", "while :; do :; done"]
    limits: { memory: 64MB, cpu_percent: 20, pids: 8 }
  hog:
    entrypoint: /bin/sh
    args: ["-c", "tail /dev/zero"]
    limits: { memory: 32MB }
    restart_policy: never
`;

export const GROUPS: readonly Step[] = [
  {
    name: "each app has a control group below the unit's",
    async run(scene) {
      const group = await groupOf(scene, (await scene.app("slow")).pid);
      const unit = await scene.show("ControlGroup");
      equal(group.startsWith(`${unit}/procsup/`), true, `${group} is below ${unit}`);
      return group;
    },
  },
  {
    name: "limits of memory, processor and processes hold, also under the next daemon",
    async run(scene) {
      const { stdout } = await scene.try("procsup doctor");
      if (!stdout.includes("apps can have limits of memory, cpu and pids")) {
        const why = /cgroup\s+(.*)/.exec(stdout)?.[1] ?? "no cgroup v2";
        return `SKIPPED: ${why}`;
      }
      await Deno.writeTextFile(`${scene.folder}/limits.yaml`, LIMITS);
      await scene.try("procsup start ~/limits.yaml --no-wait");
      await scene.until("hog was killed", async () => (await scene.app("hog")).state === "crashed");
      const seen = await limitsOf(scene);
      await scene.survives("bounded", () => scene.systemctl("restart procsup"));
      equal(await limitsOf(scene), seen, "limits under the next daemon");
      const hog = await scene.sh("procsup why hog");
      await scene.sh("procsup delete bounded hog");
      return `${seen}; ${hog.split("\n")[0]}`;
    },
  },
];

async function groupOf(scene: Scene, pid: number): Promise<string> {
  return (await scene.sh(`sed -n s/^0:://p /proc/${pid}/cgroup`)).replace(/^\/\.\./, "");
}

async function limitsOf(scene: Scene): Promise<string> {
  const group = await groupOf(scene, (await scene.app("bounded")).pid);
  const files = ["memory.max", "cpu.max", "pids.max"].map((name) =>
    `/sys/fs/cgroup${group}/${name}`
  );
  return (await scene.sh(`head -qn1 ${files.join(" ")}`)).split("\n").join(", ");
}
