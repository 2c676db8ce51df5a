/** Attacks by files and folders of another user that root's daemon touches. */

import { waitFor } from "../../../tests/support/wait_for.ts";
import { ifPossible } from "../../../src/model/errors.ts";
import { listArchives } from "../../../src/logs/write/archives.ts";
import { ALICE, type Attack, BOB, brief, holds, run, type Scene, within } from "./scene.ts";

/** Starts an app of bob with his file as env_file and as secret. Returns the errors. */
async function useFile(scene: Scene, cwd: string, make: string): Promise<string> {
  await scene.as(BOB, `rm -f .env; ${make}`, cwd);
  let said = "";
  for (const uses of [{ env_file: [".env"] }, { secrets: { A: { file: ".env" } } }]) {
    const started = scene.daemon.startScript("mine", "env; exec sleep 1000", {
      ...{ cwd, ...BOB, ...uses, restart_policy: "never" },
    });
    said += await within(5000, `the start with ${make}`, started.then(() => "", String));
    await within(2000, "ping", scene.daemon.client.call("ping"));
    await scene.daemon.client.call("delete", "mine").catch(() => {});
  }
  return said;
}

function logOf(scene: Scene, name: string): string {
  return Deno.readTextFileSync(`${scene.daemon.home}/apps/${name}/stdout.log`);
}

export const files: Readonly<Record<string, Attack>> = {
  async "env_file and secret replaced by a FIFO or a device"(scene) {
    const cwd = scene.folderOf(BOB);
    let said = "";
    for (const make of ["mkfifo .env", "ln -s /dev/ptmx .env", "mkfifo f; ln -s f .env"]) {
      said = await useFile(scene, cwd, make);
    }
    return `refused: ${brief(said)}`;
  },

  async "env_file and secret linked to files of root and alice"(scene) {
    const cwd = scene.folderOf(BOB);
    for (const [name, uid] of [["root", 0], ["alice", ALICE.uid]] as const) {
      Deno.writeTextFileSync(`${scene.path}/${name}.env`, "STOLEN=yes\n", { mode: 0o600 });
      Deno.chownSync(`${scene.path}/${name}.env`, uid, uid);
      const said = await useFile(scene, cwd, `ln -s ../${name}.env .env`);
      holds(said.includes("Error"), `an app of bob started with the file of ${name}`);
    }
    const said = await useFile(scene, cwd, `ln -s ${scene.daemon.home}/token .env`);
    holds(said.includes("Error"), "an app of bob started with the token of the daemon");
    return `refused: ${brief(said)}`;
  },

  async "an app's folder linked behind a folder of root"(scene) {
    const cwd = `${scene.folderOf(BOB)}/app`;
    Deno.mkdirSync(`${scene.path}/root`, { mode: 0o700 });
    Deno.mkdirSync(`${scene.path}/root/project`, { mode: 0o755 });
    Deno.writeTextFileSync(`${scene.path}/root/project/.env`, "STOLEN=yes\n", { mode: 0o644 });
    let said = "";
    for (const link of ["", "mkdir app; (sleep 0.01; rmdir app; ln -s ../root/project app) &"]) {
      await scene.as(BOB, `rm -rf app; ${link || "ln -s ../root/project app"}`, `${cwd}/..`);
      said += await scene.daemon.startScript("mine", "cat .env; exec sleep 1000", {
        ...{ cwd, ...BOB, restart_policy: "never" },
        hooks: { post_start: `cat .env >${scene.path}/hook` },
      }).then(() => "", String);
      const texts = [() => logOf(scene, "mine"), () => Deno.readTextFileSync(`${scene.path}/hook`)];
      const stolen = texts.some((text) => ifPossible(text)?.includes("STOLEN"));
      holds(!stolen, "an app of bob read a file in a folder of root");
      await scene.daemon.client.call("delete", "mine").catch(() => {});
    }
    return `refused: ${brief(said)}`;
  },

  async "an env_file of 400 MB"(scene) {
    const before = scene.memory();
    await useFile(scene, scene.folderOf(BOB), "truncate -s 400M .env");
    const grown = scene.memory() - before;
    holds(grown < 100, `memory +${grown} MiB`);
    return `memory +${grown} MiB`;
  },

  async "a ready file of 700 MB"(scene) {
    const before = scene.memory();
    const ready = { wait_ready: true, min_uptime: "10ms", listen_timeout: "20s" };
    const huge = 'truncate -s 700M "$PROCSUP_READY_FILE"; exec sleep 1000';
    await scene.daemon.startScript("huge", huge, { ...ready, ...BOB });
    const slow = 'sleep 0.5; echo READY=1 >"$PROCSUP_READY_FILE"; exec sleep 1000';
    await scene.daemon.startScript("other", slow, { ...ready, ...ALICE });
    const other = waitFor(async () => (await scene.daemon.status("other")).ready);
    await within(8000, "another app becomes ready", other);
    const grown = scene.memory() - before;
    holds(grown < 100, `memory +${grown} MiB`);
    return `another app became ready, memory +${grown} MiB`;
  },

  async "a ready file and a log replaced by links to files of root"(scene) {
    Deno.writeTextFileSync(`${scene.path}/victim`, "of root\n", { mode: 0o600 });
    const script = `rm -f "$PROCSUP_READY_FILE"; ln -s ${scene.path}/victim "$PROCSUP_READY_FILE"
      cd "$(dirname "$PROCSUP_READY_FILE")" && for f in *; do ln -sf ${scene.path}/victim "$f"; done
      exec sleep 1000`;
    await scene.daemon.startScript("mine", script, {
      ...{ wait_ready: true, listen_timeout: "2s", restart_policy: "never", ...BOB },
    });
    await waitFor(async () => (await scene.daemon.status("mine")).state !== "starting");
    await scene.daemon.client.call("delete", "mine");
    const text = Deno.readTextFileSync(`${scene.path}/victim`);
    holds(text === "of root\n", "root wrote to its own file through bob's link");
    return "root's file is as it was";
  },

  async "a home below a folder of another user"(scene) {
    const bob = scene.folderOf(BOB);
    Deno.mkdirSync(`${scene.path}/target`, { mode: 0o700 });
    await scene.as(BOB, `ln -s ${scene.path}/target x`, bob);
    for (const home of [`${bob}/h`, `${bob}/x/h`]) {
      const env = { PROCSUP_HOME: home };
      const words = ["start", "--name", "a", "--", "/bin/sleep", "9"];
      const started = run("/tmp/procsup", { args: words, env, cwd: "/" });
      const { code, text } = await within(20_000, `start in ${home}`, started);
      const written = [...Deno.readDirSync(`${scene.path}/target`)].length;
      holds(code !== 0 && written === 0, `root took ${home}: ${brief(text)}`);
    }
    return "refused, nothing was written";
  },

  async "a token of root sent to another user's socket"(scene) {
    const bob = scene.folderOf(BOB);
    const got = `${scene.path}/got`;
    Deno.writeTextFileSync(`${scene.path}/root.token`, "root-own\n", { mode: 0o600 });
    await scene.as(BOB, `mkdir -m 700 h && ln -s ${scene.path}/root.token h/token`, bob);
    const serve =
      `use IO::Socket::UNIX; $s=IO::Socket::UNIX->new(Local=>"h/procsup.sock",Listen=>5);
      while($c=$s->accept){sysread $c,$b,4096;open F,">>",$ARGV[0];print F $b;close F}`;
    scene.background(BOB, "sh", "-c", `cd ${bob}; exec perl -e '${serve}' ${got}`);
    await waitFor(() => Deno.lstatSync(`${bob}/h/procsup.sock`));
    const env = { PROCSUP_HOME: `${bob}/h` };
    await within(
      30_000,
      "list",
      run("timeout", { args: ["10", "/tmp/procsup", "list"], env, cwd: "/" }),
    );
    const text = await Deno.readTextFile(got).catch(() => "");
    holds(!text.includes("root-own"), "bob's socket got root's token");
    return "nothing was sent";
  },

  async "a log with a hole of 3 GB"(scene) {
    const script = "perl -e 'truncate STDOUT, 3e9 or die'; while :; do echo line; sleep 0.2; done";
    const written = () =>
      Number(
        /^write_bytes: (\d+)/m.exec(Deno.readTextFileSync(`/proc/${scene.daemon.pid}/io`))![1],
      ) +
      Number(/^wchar: (\d+)/m.exec(Deno.readTextFileSync(`/proc/${scene.daemon.pid}/io`))![1]);
    const before = written();
    await scene.daemon.startScript("mine", script, { ...BOB, log: { max_size: "1MB" } });
    const path = `${scene.daemon.home}/apps/mine/stdout.log`;
    const over = waitFor(() => listArchives(path).length > 0 && Deno.statSync(path).size < 1e8, {
      ...{ timeoutMs: 110_000, what: "the rotation of the log" },
    });
    const ping = await scene.longestPing(over);
    await over;
    const megabytes = Math.round((written() - before) / 1e6);
    holds(megabytes < 300, `the daemon wrote ${megabytes} MB; longest ping ${ping} ms`);
    return `the daemon wrote ${megabytes} MB; longest ping ${ping} ms`;
  },

  async "an app replaces the files beside its log"(scene) {
    const script = `cat ${scene.daemon.home}/token; ls ${scene.daemon.home}; exec sleep 1000`;
    await scene.daemon.startScript("mine", script, { ...BOB });
    await waitFor(() => Deno.readTextFileSync(`${scene.daemon.home}/apps/mine/stderr.log`) !== "");
    holds(logOf(scene, "mine") === "", "an app with a uid reads the home");
    return "the home is closed to it";
  },
};
