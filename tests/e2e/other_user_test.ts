/** Programs that root starts for an app of another user, who controls its environment. */

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ProcsupError } from "../../src/model/errors.ts";
import { programLine, TestDaemon } from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";

const daemon = TestDaemon.ofFile();

const rootOnly = { ignore: Deno.build.os !== "linux" || Deno.uid() !== 0 };
const NOBODY = 65534;

/** A folder that every user may write to. */
function openFolder() {
  const folder = tempHome();
  Deno.chmodSync(folder.path, 0o1777);
  return folder;
}

/** Waits until a file contains a line, and returns its text. */
async function text(path: string): Promise<string> {
  await waitFor(() => Deno.readTextFileSync(path).endsWith("\n"), { what: path });
  return Deno.readTextFileSync(path);
}

Deno.test(
  "variables of an app with a uid affect no program of root",
  rootOnly,
  async () => {
    await using folder = openFolder();
    // The loader leaves a file for each program, owned by the user who runs it.
    const env = `LD_DEBUG=files\nLD_DEBUG_OUTPUT=${folder.path}/loaded\n`;
    Deno.writeTextFileSync(`${folder.path}/.env`, env, { mode: 0o644 });
    await daemon.startScript("app", `/bin/true; id -u >${folder.path}/up; exec sleep 1000`, {
      uid: "nobody",
      nice: 3,
      env_file: `${folder.path}/.env`,
      hooks: { post_start: `id -u >${folder.path}/hook` },
      health_check: { type: "command", command: `id -u >${folder.path}/check` },
    });
    for (const name of ["up", "hook", "check"]) {
      assertEquals(await text(`${folder.path}/${name}`), `${NOBODY}\n`, name);
    }
    const loaded = [...Deno.readDirSync(folder.path)].filter(({ name }) =>
      name.startsWith("loaded")
    );
    assert(loaded.length > 2, "the loader left nothing");
    const owners = loaded.map(({ name }) => Deno.statSync(`${folder.path}/${name}`).uid);
    assertEquals([...new Set(owners)], [NOBODY]);
  },
);

Deno.test(
  "secret commands and runtime version queries run as the app's user",
  rootOnly,
  async () => {
    await using folder = openFolder();
    const { path } = folder;
    const node = `#!/bin/sh\nid -u >>${path}/asked\necho v22.18.0\n`;
    Deno.writeTextFileSync(`${path}/node`, node, { mode: 0o755 });
    Deno.chmodSync(`${path}/node`, 0o755);
    Deno.writeTextFileSync(`${path}/app.ts`, "");
    await daemon.client.call("start", {
      name: "app",
      entrypoint: `${path}/app.ts`,
      runtime: "node",
      cwd: path,
      uid: "nobody",
      restart_policy: "never",
      env: { PATH: `${path}:/usr/bin:/bin` },
      secrets: { KEY: { command: `echo $(id -u) $HOME | tee ${path}/secret` } },
    });
    assertEquals(await text(`${path}/secret`), `${NOBODY} /nonexistent\n`);
    const asked = (await text(`${path}/asked`)).trim().split("\n");
    assertEquals([...new Set(asked)], [`${NOBODY}`]);
  },
);

Deno.test(
  "a hook with run_as_root runs as root, without the app's environment",
  rootOnly,
  async () => {
    await using folder = openFolder();
    const command = `id -u >${folder.path}/root; env >>${folder.path}/root`;
    await daemon.startScript("app", "exec sleep 1000", {
      uid: "nobody",
      env: { BY_THE_APP: "x" },
      hooks: { pre_start: { command, run_as_root: true } },
    });
    const [uid, ...env] = (await text(`${folder.path}/root`)).trim().split("\n");
    assertEquals(uid, "0");
    assert(!env.some((line) => line.startsWith("BY_THE_APP=")));
    assertStringIncludes(env.join("\n"), "PROCSUP_NAME=app");
  },
);

Deno.test(
  "an app with a uid gets into no folder behind one that its user cannot enter",
  rootOnly,
  async () => {
    await using folder = openFolder();
    const { path } = folder;
    Deno.mkdirSync(`${path}/closed`, { mode: 0o700 });
    Deno.mkdirSync(`${path}/closed/project`, { mode: 0o755 });
    Deno.symlinkSync(`${path}/closed/project`, `${path}/app`);
    const start = () =>
      daemon.startScript("app", "pwd; exec sleep 1000", { uid: "nobody", cwd: `${path}/app` });
    await assertRejects(start, ProcsupError, "cannot be entered by user nobody");
    Deno.chmodSync(`${path}/closed`, 0o711);
    await start();
    assertEquals(await text(`${daemon.home}/apps/app/stdout.log`), `${path}/app\n`);
  },
);

Deno.test("other users cannot read the run id", rootOnly, async () => {
  const { pid } = await daemon.startScript("app", "exec sleep 1000", { uid: "nobody" });
  // One read for both, because the file is empty during exec.
  let id = "";
  await waitFor(() => {
    const environment = Deno.readTextFileSync(`/proc/${pid}/environ`);
    id = /PROCSUP_RUN_ID=([^\0]*)/.exec(environment)?.[1] ?? "";
    return id !== "" && environment.includes("PWD=");
  }, { what: "the app to have taken over" });
  const wrapper = /\) \S (\d+)/.exec(Deno.readTextFileSync(`/proc/${pid}/stat`))![1]!;
  for (const one of [pid, wrapper]) {
    assert(!Deno.readTextFileSync(`/proc/${one}/cmdline`).includes(id), `arguments of ${one}`);
    assert(!Deno.readTextFileSync(`/proc/${one}/cgroup`).includes(id), `control group of ${one}`);
  }
});

Deno.test("file descriptors of the shell that starts a daemon reach no app", async () => {
  await using folder = tempHome();
  await daemon.client.call("shutdown");
  const list = "for fd in /proc/self/fd/*; do readlink $fd; done; echo done; exec sleep 1000";
  const start = `exec 7>${folder.path}/seven
    eval "exec {high}>${folder.path}/high"
    ${programLine()} start --name app -- /bin/sh -c '${list}'`;
  await new Deno.Command("bash", { args: ["-c", start], env: { PROCSUP_HOME: daemon.home } })
    .output();
  const log = `${daemon.home}/apps/app/stdout.log`;
  await waitFor(() => Deno.readTextFileSync(log).endsWith("done\n"), { what: "the whole list" });
  const seen = Deno.readTextFileSync(log);
  assertStringIncludes(seen, `${log}\n`);
  assert(!seen.includes(folder.path), seen);
});
