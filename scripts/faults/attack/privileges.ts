/** Attacks of an app with a `uid` that tries to become root, or to reach what root owns. */

import { waitFor } from "../../../tests/support/wait_for.ts";
import { type Attack, BOB, holds, type Scene } from "./scene.ts";

/** Waits until a file has a complete line. Returns its lines. */
async function lines(path: string): Promise<string[]> {
  await waitFor(() => Deno.readTextFileSync(path).endsWith("\n"), { what: path });
  return Deno.readTextFileSync(path).trim().split("\n");
}

function uidsOf(all: Iterable<string>): string {
  return [...new Set(all)].join(", ");
}

/** Starts an app as bob. */
function start(scene: Scene, script: string, config: Record<string, unknown> = {}) {
  return scene.daemon.startScript("mine", script, { cwd: scene.path, ...BOB, ...config });
}

export const privileges: Readonly<Record<string, Attack>> = {
  async "an app with a uid sets LD_* in its env_file"(scene) {
    const { path } = scene;
    // The loader writes a file for every program it loads, owned by the user who runs it.
    const env = `LD_DEBUG=files\nLD_DEBUG_OUTPUT=${path}/loaded\n`;
    Deno.writeTextFileSync(`${path}/.env`, env, { mode: 0o644 });
    await start(scene, `/bin/true; echo >${path}/up; exec sleep 1000`, {
      ...{ nice: 3, env_file: `${path}/.env` },
      hooks: { post_start: `echo >${path}/hook` },
    });
    await lines(`${path}/up`).catch(() => {});
    const owners = [...Deno.readDirSync(path)].filter(({ name }) => name.startsWith("loaded"))
      .map(({ name }) => String(Deno.statSync(`${path}/${name}`).uid));
    holds(owners.every((uid) => uid === String(BOB.uid)), `loaded by uid ${uidsOf(owners)}`);
    return `${owners.length} programs loaded, all by uid ${uidsOf(owners)}`;
  },

  async "the version of an app's own node is queried"(scene) {
    const { path } = scene;
    const node = `#!/bin/sh\nid -u >>${path}/asked\necho v22.18.0\n`;
    Deno.writeTextFileSync(`${path}/node`, node);
    Deno.chmodSync(`${path}/node`, 0o755);
    Deno.writeTextFileSync(`${path}/app.ts`, "");
    const env = { PATH: `${path}:/usr/bin:/bin` };
    await scene.daemon.client.call("start", {
      ...{ name: "mine", entrypoint: `${path}/app.ts`, runtime: "node", cwd: path, ...BOB, env },
      restart_policy: "never",
    });
    const asked = await lines(`${path}/asked`);
    holds(!asked.includes("0"), `its node ran as uid ${uidsOf(asked)}`);
    return `its node ran as uid ${uidsOf(asked)}`;
  },

  async "hooks, checks and secret commands of an app with a uid"(scene) {
    const { path } = scene;
    await start(scene, "exec sleep 1000", {
      hooks: { pre_start: `id -u >${path}/pre`, post_start: `id -u >${path}/post` },
      health_check: { type: "command", command: `id -u >${path}/check` },
      secrets: { KEY: { command: `id -u | tee ${path}/secret` } },
    });
    for (const name of ["pre", "post", "check", "secret"]) {
      const [uid] = await lines(`${path}/${name}`);
      holds(uid === String(BOB.uid), `${name} ran as uid ${uid}`);
    }
    return "4 commands, all as its user";
  },

  async "an app with a uid looks for groups and capabilities of root"(scene) {
    await start(
      scene,
      `grep -E '^(Uid|Gid|Groups|Cap...):' /proc/self/status >${scene.path}/own;
      exec sleep 1000`,
    );
    const own = (await lines(`${scene.path}/own`)).filter((line) => !line.startsWith("CapBnd"));
    const bad = own.find((line) =>
      /^(Uid|Gid|Groups):.*\b0\b/.test(line) || /^Cap.*[1-9a-f]/.test(line.slice(4))
    );
    holds(bad === undefined, `it has ${bad}`);
    return "no group, no capability of root";
  },

  async "descriptors of the shell that starts the daemon"(scene) {
    const { path, daemon } = scene;
    await daemon.client.call("shutdown");
    Deno.writeTextFileSync(`${path}/secret`, "", { mode: 0o600 });
    const list = "for fd in /proc/self/fd/*; do readlink $fd; done; echo done; exec sleep 1000";
    const script = `exec 7>${path}/secret 17>${path}/secret
      /tmp/procsup start --name mine -- /bin/sh -c '${list}'`;
    const env = { PROCSUP_HOME: daemon.home };
    await new Deno.Command("bash", { args: ["-c", script], env, cwd: "/" }).output();
    const log = `${daemon.home}/apps/mine/stdout.log`;
    await waitFor(() => Deno.readTextFileSync(log).endsWith("done\n"), { what: log });
    const isOpen = Deno.readTextFileSync(log).includes(`${path}/secret`);
    holds(!isOpen, "a file of root's shell is open in the app");
    return "none reached the app";
  },

  async "another user reads the run id of an app"(scene) {
    const { pid } = await scene.daemon.status("app");
    const environment = () => Deno.readTextFileSync(`/proc/${pid}/environ`);
    await waitFor(() => environment().includes("PROCSUP_RUN_ID="), { what: "the app" });
    const id = /PROCSUP_RUN_ID=([^\0]*)/.exec(environment())![1]!;
    const { text } = await scene.as(BOB, "cat /proc/[0-9]*/cmdline /proc/[0-9]*/cgroup 2>&1");
    holds(!text.includes(id), "it stands in /proc, readable by all");
    return "it stands nowhere that bob can read";
  },

  async "an app with a uid sends signals and writes to root's processes and files"(scene) {
    const { path, daemon } = scene;
    const pid = await scene.appPid();
    const script =
      `(kill -9 ${pid} ${daemon.pid} || echo no; echo x >/proc/${daemon.pid}/fd/1 || echo no;
      cat ${daemon.home}/token || echo no; kill -9 -1 || echo no) >${path}/tried 2>/dev/null
      exec sleep 1000`;
    await start(scene, script, { restart_policy: "never" });
    await lines(`${path}/tried`);
    holds(await scene.appPid() === pid, "the app of root was ended");
    return "the daemon, its token and root's app are out of reach";
  },
};
