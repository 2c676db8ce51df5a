/** `run` as the first process of a container, which all orphans there become children of. */

import { assertEquals } from "@std/assert";
import { takeLock } from "../../src/platform/files/lock.ts";
import { livingWith } from "../fixtures/run_members.ts";
import { command, run } from "../support/run_command.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";

const ORPHANS = 200;

/** As pid 1 of its own pid namespace, where that is allowed. */
const AS_PID_1 = ["unshare", "-pf", "--mount-proc", "--kill-child"];
const cannotUnshare = !new Deno.Command("sh", {
  args: ["-c", `${AS_PID_1.join(" ")} true`],
  stdout: "null",
  stderr: "null",
}).outputSync().success;

Deno.test({
  name: "run as pid 1 reaps 200 orphans and passes the exit code on",
  ignore: cannotUnshare,
}, async () => {
  const script = `i=0; while [ $i -lt ${ORPHANS} ]; do (sleep 0.01 &); i=$((i+1)); done; ` +
    `n=1; t=0; while [ $n -gt 0 ] && [ $t -lt 100 ]; do sleep 0.1; t=$((t+1)); ` +
    `n=$(cat /proc/[0-9]*/stat 2>/dev/null | grep -c ') Z '); done; echo "left $n"; exit 9`;
  const { code, stdout } = await run(["run", "--", "sh", "-c", script], { before: AS_PID_1 });
  assertEquals([code, stdout], [9, "left 0\n"]);
});

Deno.test({
  name: "run as pid 1 waits for post_stop before it exits and ends the container",
  ignore: cannotUnshare,
}, async () => {
  await using temp = tempHome();
  const app = {
    entrypoint: "/bin/sh",
    args: ["-c", "echo up; exit 3"],
    restart_policy: "never",
    hooks: { post_stop: `sleep 0.3; echo gone >${temp.path}/gone` },
  };
  const side = { entrypoint: "/bin/sleep", args: ["1000"], hooks: app.hooks };
  const file = { processes: { app, side }, run: { critical: "app" } };
  Deno.writeTextFileSync(`${temp.path}/procsup.json`, JSON.stringify(file));
  const { code } = await run(["run", "procsup.json"], { before: AS_PID_1, cwd: temp.path });
  assertEquals([code, Deno.readTextFileSync(`${temp.path}/gone`)], [3, "gone\n"]);
});

Deno.test({
  name: "run as pid 1 removes leftovers of its earlier runs, and nothing else",
  ignore: cannotUnshare,
}, async () => {
  await using temp = tempHome();
  const homes = ["procsup-init-left", "procsup-init-used", "procsup-run-other", "procsup-init-new"];
  for (const name of homes) {
    Deno.mkdirSync(`${temp.path}/${name}`);
    Deno.writeTextFileSync(`${temp.path}/${name}/daemon.lock`, "");
    if (!name.endsWith("new")) Deno.utimeSync(`${temp.path}/${name}`, 1e9, 1e9);
  }
  using _used = takeLock(`${temp.path}/procsup-init-used/daemon.lock`);
  const before = ["env", `TMPDIR=${temp.path}`, ...AS_PID_1];
  assertEquals((await run(["run", "--", "true"], { before })).code, 0);
  const left = [...Deno.readDirSync(temp.path)].map(({ name }) => name).toSorted();
  assertEquals(left, ["procsup-init-new", "procsup-init-used", "procsup-run-other"]);
});

Deno.test({
  name: "run as pid 1 terminates all on SIGTERM, a stubborn app after its timeout",
  ignore: cannotUnshare,
}, async () => {
  await using temp = tempHome();
  const mark = crypto.randomUUID();
  const script = `trap "" TERM; echo up >${temp.path}/up; while :; do sleep 0.1; done`;
  const child = command(["run", "--stop-timeout", "1s", "--", "sh", "-c", script], {
    before: [...AS_PID_1, "env", `MARK=${mark}`],
  }).spawn();
  await waitFor(() => Deno.statSync(`${temp.path}/up`));
  const inner = Deno.readTextFileSync(`/proc/${child.pid}/task/${child.pid}/children`).trim();
  Deno.kill(Number(inner), "SIGTERM");
  // It would never exit by itself.
  await child.output();
  assertEquals(livingWith(`MARK=${mark}`), []);
});
