/** What the launcher finds out by itself when the wrapper could not record it. */

import { assertEquals } from "@std/assert";
import { Launcher } from "../../src/platform/launch/launcher.ts";
import { terminateRun } from "../../src/platform/scan/process_group.ts";
import { RunFiles } from "../../src/platform/launch/run_files.ts";
import { BY_OUR_NAMES } from "../support/link_library.ts";
import { tempHome } from "../support/temp_home.ts";

const src = new URL("../../src/platform/", import.meta.url).href;

const ignore = Deno.build.os !== "linux";

const TERM = { signal: "SIGTERM", mode: "group", main: 0 } as const;

Deno.test({
  name: "the pid of an app with pipes, which could not be recorded, is not that of their cat",
  ignore,
  async fn() {
    await using temp = tempHome();
    const runId = crypto.randomUUID();
    // The wrapper cannot write into it, as on a full disk.
    Deno.mkdirSync(`${temp.path}/run/${runId}.pid`, { recursive: true });
    Deno.mkdirSync(`${temp.path}/apps/app`, { recursive: true });
    const files = new RunFiles(`${temp.path}/run`);
    const launcher = new Launcher(files);
    const child = launcher.launch({
      ...{ runId, name: "app", argv: ["/bin/sleep", "1000"], cwd: temp.path, env: {} },
      ...{ stdout: `${temp.path}/stdout`, stderr: `${temp.path}/stderr`, piped: true },
    });
    const command = Deno.readTextFileSync(`/proc/${await child.pid}/cmdline`);
    assertEquals(command, "/bin/sleep\x001000\0");
    await terminateRun(child.run, TERM, () => performance.now() + 2000);
    await launcher.close();
    files.close();
  },
});

/**
 * Kills a wrapper, takes every descriptor while the app is looked for, and then kills the app. A look
 * at more than 256 processes takes more than one turn of the loop.
 */
const LACK = `
import { Launcher } from "${src}launch/launcher.ts";
import { RunFiles } from "${src}launch/run_files.ts";
const path = Deno.cwd();
// The runtime needs a descriptor for its first listener.
Deno.addSignalListener("SIGUSR2", () => {});
const crowd = new Deno.Command("/bin/sh", {
  args: ["-c", "for i in $(seq 300); do sleep 20 & done; echo; wait"],
  detached: true,
  stdout: "piped",
}).spawn();
await crowd.stdout.getReader().read();
const launcher = new Launcher(new RunFiles(path));
const { run, pid, exited } = launcher.launch({
  ...{ runId: crypto.randomUUID(), name: "app", argv: ["/bin/sleep", "1000"], cwd: path, env: {} },
  ...{ stdout: path + "/stdout", stderr: path + "/stderr" },
});
const app = await pid;
const held = [];
const take = () => { try { for (;;) held.push(Deno.openSync("/dev/null")); } catch {} };
const taking = setInterval(take);
take();
Deno.kill(run.wrapperPid, "SIGKILL");
await new Promise((resolve) => setTimeout(resolve, 500));
clearInterval(taking);
for (const file of held) file.close();
Deno.kill(app, "SIGKILL");
const { code } = await exited;
console.log("ended with", code);
Deno.kill(-crowd.pid, "SIGKILL");
Deno.exit();
`;

Deno.test({
  name:
    "the end of an app whose wrapper was killed is noticed even if there was no descriptor to look",
  ignore,
  async fn() {
    await using temp = tempHome();
    const { stdout } = await new Deno.Command("/bin/sh", {
      args: ["-c", 'ulimit -n 64; exec timeout 30 "$@"', "sh"]
        .concat(Deno.execPath(), "eval", BY_OUR_NAMES, LACK),
      cwd: temp.path,
      stderr: "null",
    }).output();
    assertEquals(new TextDecoder().decode(stdout), "ended with null\n");
  },
});
