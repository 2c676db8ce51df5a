/** Attacks of other users that keep root from stopping an app, or make it end foreign processes. */

import { sleep } from "../../../src/platform/clock.ts";
import { waitFor } from "../../../tests/support/wait_for.ts";
import { type Attack, BOB, holds, Lacking, type Scene, within } from "./scene.ts";

/** Numbers of the system calls mmap, prctl and brk. */
const CALLS: Readonly<Record<string, readonly [number, number, number]>> = {
  x86_64: [9, 157, 12],
  aarch64: [222, 167, 214],
};

/** Declares 900 MB of untouched memory to be the environment, with PR_SET_MM_MAP. */
function hugeEnvironment([mmap, prctl, brk]: readonly [number, number, number]): string {
  return `open F,"/proc/self/stat";$_=<F>;s/.*\\) //;@s=split;unshift @s,0,0;
    $size=900<<20;$at=syscall(${mmap},0,$size,3,0x4022,-1,0);
    $map=pack("Q11Qll",@s[25,26,44,45,46],syscall(${brk},0),@s[27,47,48],$at,$at+$size,0,0,-1);
    $r=syscall(${prctl},35,14,$map,length $map,0);$|=1;print $r==0?"done\\n":"refused: $!\\n";sleep 1000`;
}

async function stopped(scene: Scene, what: string): Promise<string> {
  const [before, cpu] = [scene.memory(), scene.cpuMs()];
  const begun = performance.now();
  await within(60_000, `stop ${what}`, scene.daemon.client.call("stop", { target: "app" }));
  const took = Math.round(performance.now() - begun);
  const grown = scene.memory() - before;
  holds((await scene.daemon.status("app")).state === "stopped", "the app is not stopped");
  holds(grown < 150, `memory +${grown} MiB at a stop`);
  // On a busy machine the time says little.
  const used = scene.cpuMs() - cpu;
  holds(used < 3000, `the stop takes ${used} ms of the processor`);
  return `stopped in ${took} ms, ${used} ms of the processor, memory +${grown} MiB`;
}

export const processes: Readonly<Record<string, Attack>> = {
  async "another user's process has an environment of 900 MB"(scene) {
    const calls = CALLS[Deno.build.arch];
    if (calls === undefined) throw new Lacking("x86_64 or aarch64");
    const child = scene.background(BOB, "perl", "-e", hugeEnvironment(calls));
    const reader = child.stdout.getReader();
    const said = new TextDecoder().decode((await reader.read()).value);
    reader.releaseLock();
    if (!said.startsWith("done")) throw new Lacking(`PR_SET_MM_MAP (${said.trim()})`);
    return await stopped(scene, "beside a huge environment");
  },

  async "another user forks endlessly while an app is stopped"(scene) {
    const forks =
      "for(1..4){fork}while(1){if(!defined($p=fork)){next}if($p){exit}select(undef,undef,undef,.002)}";
    scene.background(BOB, "perl", "-e", forks);
    return await stopped(scene, "beside chains of short-lived processes");
  },

  async "an app hides its children: new session, no environment, ignored signals"(scene) {
    const { path } = scene;
    const hidden = 'trap "" TERM HUP INT; echo $$ >>$1; exec sleep 100000';
    const script = `for i in 1 2 3; do
        setsid env -i sh -c '${hidden}' hidden ${path}/pids & done; sleep 0.3; exec sleep 100000`;
    await scene.daemon.startScript("mine", script, { ...BOB, stop_timeout: "1s" });
    await waitFor(() => Deno.readTextFileSync(`${path}/pids`).trim().split("\n").length === 3);
    const stop = scene.daemon.client.call("stop", { target: "mine" });
    await within(15_000, "stop", stop);
    const pids = Deno.readTextFileSync(`${path}/pids`).trim().split("\n");
    const left = pids.filter((pid) => {
      try {
        return !/\) [ZX] /.test(Deno.readTextFileSync(`/proc/${pid}/stat`));
      } catch {
        return false;
      }
    });
    holds(left.length === 0, `${left.length} of 3 children live on`);
    return "3 children ended with it";
  },

  async "an app that exits at once, again and again"(scene) {
    for (let i = 0; i < 20; i++) {
      await scene.daemon.startScript(`loop${i}`, "exit 1", { restart_delay: "1ms", ...BOB });
    }
    const ping = await scene.longestPing(sleep(3000));
    holds(ping < 2000, `longest ping ${ping} ms`);
    return `20 such apps, longest ping ${ping} ms; ${await stopped(scene, "meanwhile")}`;
  },
};
