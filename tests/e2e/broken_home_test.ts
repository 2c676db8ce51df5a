/** An unsafe or damaged home: one clear error, and recovery. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { walkSync } from "@std/fs/walk";
import { sealed, unsealed } from "../../src/platform/files/state_file.ts";
import { assertOneError } from "../support/one_error.ts";
import { cli, cliIn, TestDaemon } from "../support/procsup.ts";
import { type TempHome, tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";

const daemon = TestDaemon.ofFile();

/** An unsafe home: how to create it, and the error message. */
interface BadHome {
  readonly what: string;
  readonly says: RegExp;
  readonly make: (folder: string) => string;
  readonly ignore?: boolean;
}

const BAD_HOMES: readonly BadHome[] = [
  {
    what: "a symbolic link",
    says: /symbolic link/,
    make(folder) {
      Deno.mkdirSync(`${folder}/real`, { mode: 0o700 });
      Deno.symlinkSync(`${folder}/real`, `${folder}/home`);
      return `${folder}/home`;
    },
  },
  {
    what: "a file",
    says: /not a directory|Cannot create/,
    make(folder) {
      Deno.writeTextFileSync(`${folder}/home`, "");
      return `${folder}/home`;
    },
  },
  {
    what: "owned by another user",
    says: /belongs to user 65534/,
    ignore: Deno.uid() !== 0,
    make(folder) {
      Deno.mkdirSync(`${folder}/home`, { mode: 0o700 });
      Deno.chownSync(`${folder}/home`, 65534, 65534);
      return `${folder}/home`;
    },
  },
  {
    what: "below another user's folder",
    says: /"[^"]*\/theirs" belongs to user 65534/,
    ignore: Deno.uid() !== 0,
    make(folder) {
      Deno.mkdirSync(`${folder}/theirs`);
      Deno.chownSync(`${folder}/theirs`, 65534, 65534);
      return `${folder}/theirs/new/home`;
    },
  },
  {
    what: "behind another user's link",
    says: /"[^"]*\/link" belongs to user 65534/,
    ignore: Deno.uid() !== 0,
    make(folder) {
      Deno.mkdirSync(`${folder}/real`);
      Deno.symlinkSync(`${folder}/real`, `${folder}/link`);
      new Deno.Command("chown", { args: ["-h", "65534", `${folder}/link`] }).outputSync();
      return `${folder}/link/home`;
    },
  },
  {
    what: "below a folder that others can write to",
    says: /others may write to "[^"]*\/shared"/,
    make(folder) {
      Deno.mkdirSync(`${folder}/shared`);
      Deno.chmodSync(`${folder}/shared`, 0o777);
      return `${folder}/shared/home`;
    },
  },
  {
    what: "writable by others",
    says: /others may write/,
    make(folder) {
      Deno.mkdirSync(`${folder}/home`);
      Deno.chmodSync(`${folder}/home`, 0o777);
      return `${folder}/home`;
    },
  },
  {
    what: "too long for a socket path",
    says: /bytes long/,
    make: (folder) => `${folder}/${"x".repeat(100)}`,
  },
];

for (const { what, says, make, ignore = false } of BAD_HOMES) {
  Deno.test(`a home that is ${what} is rejected`, { ignore }, async () => {
    await using temp = tempHome();
    const home = make(temp.path);
    const before = below(temp.path);
    for (const args of [["daemon"], ["start", "--name", "x", "--no-wait", "--", "sleep", "1000"]]) {
      const { code, stdout, stderr } = await cli(home, ...args);
      assertEquals([code, stdout], [2, ""], stderr);
      assertMatch(stderr, says);
      assertOneError(stderr, stderr);
    }
    assertEquals(below(temp.path), before);
  });
}

Deno.test("daemon refuses a copy of a home whose daemon lives, and leaves the apps to it", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  await using daemon = await TestDaemon.start();
  const { pid } = await daemon.startScript("app", "exec sleep 1000");
  // The pid is on record moments after the answer. Without it the copy shows no run.
  const records = `${daemon.home}/state/processes`;
  await waitFor(
    () =>
      [...Deno.readDirSync(records)].some(({ name }) =>
        name.endsWith(".json") &&
        Deno.readTextFileSync(`${records}/${name}`).includes(`"pid":${pid}`)
      ),
    { what: "the pid on record" },
  );
  await using temp = tempHome();
  const copy = `${temp.path}/copy`;
  await new Deno.Command("cp", { args: ["-a", daemon.home, copy] }).output();
  const { code, stderr } = await cli(copy, "daemon");
  assertEquals(code, 2, stderr);
  assertStringIncludes(stderr, `home "${copy}": it is a copy of "${daemon.home}", which is in use`);
  assertEquals((await daemon.status("app")).pid, pid);
});

Deno.test("root sends no token to a daemon below another user's folder", {
  ignore: Deno.uid() !== 0,
}, async () => {
  await using temp = tempHome();
  const home = `${temp.path}/theirs`;
  Deno.mkdirSync(home);
  Deno.writeTextFileSync(`${temp.path}/secret`, "root's own");
  Deno.symlinkSync(`${temp.path}/secret`, `${home}/token`);
  const asked: string[] = [];
  await using _server = Deno.serve(
    { path: `${home}/procsup.sock`, onListen: () => {} },
    (request) => {
      asked.push(request.headers.get("authorization") ?? "nothing");
      return Response.json({ success: true, data: [], error: "" });
    },
  );
  Deno.chownSync(home, 65534, 65534);
  const { code, stderr } = await cli(home, "list");
  assertEquals([code, asked], [2, []]);
  assertMatch(stderr, /Refusing home .* belongs to user 65534/);
  assertStringIncludes(stderr, `hint: As its user: sudo -u "#65534" procsup --home ${home} …`);
  await cli(temp.path, "__complete", "--", "stop", "--home", home, "");
  const elsewhere = { PROCSUP_HOST: "elsewhere", XDG_CONFIG_HOME: temp.path };
  const all = await cliIn(home, elsewhere, "list", "--all-contexts");
  assertMatch(all.stderr, /✘ local {2}Refusing home/);
  assertEquals(asked, []);
});

Deno.test("root changes no settings in the folder of another user that sudo left in HOME", {
  ignore: Deno.uid() !== 0,
}, async () => {
  await using temp = tempHome();
  const [home, victim] = [`${temp.path}/theirs`, `${temp.path}/of-root`];
  for (const folder of [home, victim]) Deno.mkdirSync(folder);
  for (const name of [".config", ".cursor"]) Deno.symlinkSync(victim, `${home}/${name}`);
  Deno.chownSync(home, 65534, 65534);
  const env = { HOME: home, XDG_CONFIG_HOME: `${home}/.config` };
  for (const line of ["mcp install cursor", "context add web1 web1.example"]) {
    const { code, stderr } = await cliIn(`${temp.path}/home`, env, ...line.split(" "));
    assertEquals(code, 2, stderr);
    assertMatch(stderr, /theirs" belongs to user 65534/);
    assertMatch(stderr, /Cannot use the file of Cursor|Refusing the contexts file/);
  }
  assertEquals(below(victim), []);
});

function below(folder: string): string[] {
  return [...walkSync(folder)].map(({ path }) => path).filter((path) => path !== folder).sort();
}

Deno.test("daemon sets unreadable records aside and starts without them", async () => {
  await using daemon = await TestDaemon.start();
  const { pid } = await daemon.startScript("good", "exec sleep 1000");
  await daemon.kill();
  const records = `${daemon.home}/state/processes`;
  // A daemon that is killed during a write leaves a temporary file beside the complete one.
  const names = () =>
    [...Deno.readDirSync(records)].map(({ name }) => name).filter((name) => !name.endsWith(".tmp"));
  const isOfApp = (name: string) => name.endsWith(".app.json");
  const good = names().find((name) => name.endsWith(".json") && !isOfApp(name))!;
  const [text = ""] = (await Deno.readTextFile(`${records}/${good}`)).split("\n");
  const broken = {
    "empty": "",
    "truncated": text.slice(0, text.length / 2),
    "garbled": "\0\xff{]",
    "list": "[]",
    "null": sealed(null),
    "unsealed": JSON.stringify(unsealed(text)),
    "wrong": sealed({
      ...{ number: 1, version: 1 },
      configs: { wrong: { name: 1 } },
      app: { name: "wrong", specs: [{ generation: 1, config: "wrong" }] },
    }),
  };
  for (const [name, content] of Object.entries(broken)) {
    await Deno.writeTextFile(`${records}/${name}.json`, content);
  }
  await daemon.run();
  const list = await daemon.client.call("list");
  assertEquals(list.map(({ name, pid, state }) => [name, pid, state]), [["good", pid, "running"]]);
  const after = names().filter((name) => !name.endsWith(".copy")).toSorted();
  const aside = Object.keys(broken).map((name) => `${name}.json.unreadable`);
  assertEquals(after, [good, "good.app.json", ...aside].toSorted());
  const log = await Deno.readTextFile(`${daemon.home}/daemon.log`);
  for (const name of Object.keys(broken)) assertStringIncludes(log, `${name}.json`);
});

Deno.test("resurrect falls back to the previous saved list when one is unreadable", async () => {
  await daemon.startScript("first", "exec sleep 1000");
  assertEquals((await daemon.cli("save")).code, 0);
  await daemon.startScript("second", "exec sleep 1000");
  assertEquals((await daemon.cli("save")).code, 0);
  await daemon.client.call("delete", "all");
  const saved = `${daemon.home}/state/saved.json`;
  const text = await Deno.readTextFile(saved);
  await Deno.writeTextFile(saved, text.slice(0, -20));
  const { stdout, stderr } = await daemon.cli("resurrect");
  assertStringIncludes(stdout, "resurrected 1 app");
  assertStringIncludes(stderr, "saved.json");
  assertEquals((await daemon.status("first")).state, "running");
  assert(Deno.statSync(`${saved}.unreadable`).isFile);
});

Deno.test("resurrect fails and changes nothing when all three saved lists are unreadable", async () => {
  await daemon.startScript("app", "exec sleep 1000");
  for (let save = 0; save < 4; save++) assertEquals((await daemon.cli("save")).code, 0);
  const state = `${daemon.home}/state`;
  const generations = [...Deno.readDirSync(state)]
    .filter(({ name }) => /^saved.*\.json$/.test(name));
  assertEquals(generations.length, 3);
  for (const { name } of generations) await Deno.writeTextFile(`${state}/${name}`, "");
  const { code, stderr } = await daemon.cli("resurrect");
  assertEquals(code, 1);
  assertStringIncludes(stderr, "saved.json");
  assertEquals((await daemon.status("app")).state, "running");
});

Deno.test("a command without a daemon explains how to start one", async () => {
  await using temp: TempHome = tempHome();
  for (const args of [["list"], ["stop", "app"], ["logs"], ["save"], ["ping"]]) {
    const { code, stdout, stderr } = await cli(temp.path, ...args);
    assertEquals([code, stdout], [5, ""], stderr);
    assertMatch(stderr, /No daemon answers[^]*hint: /);
  }
  assertEquals(below(temp.path), []);
});

Deno.test("a stale socket and lock of a killed daemon do not prevent a start", async () => {
  await daemon.kill();
  assert(Deno.lstatSync(`${daemon.home}/procsup.sock`).isSocket);
  assertEquals((await daemon.cli("list")).code, 5);
  await daemon.run();
  await waitFor(() => daemon.answers(), { what: "the new daemon" });
});

Deno.test("a removed run folder is recreated: starts and restarts work, exits are known", async () => {
  await using daemon = await TestDaemon.start();
  const gate = `${daemon.home}/gate`;
  await daemon.startScript("early", `until [ -e ${gate} ]; do sleep 0.1; done; exit 7`, {
    restart_policy: "never",
  });
  Deno.removeSync(`${daemon.home}/run`, { recursive: true });
  assert((await daemon.startScript("late", "exec sleep 1000")).pid > 0);
  await daemon.client.call("restart", "late");
  assert((await daemon.status("late")).pid > 0);
  Deno.writeTextFileSync(gate, "");
  await waitFor(async () => (await daemon.status("early")).last_exit?.code === 7);
});

Deno.test("pids and exit codes are known even if no run file can be written", async () => {
  await using daemon = await TestDaemon.start();
  Deno.removeSync(`${daemon.home}/run`, { recursive: true });
  Deno.writeTextFileSync(`${daemon.home}/run`, "");
  const job = { restart_policy: "never", success_exit_codes: [0] };
  assert((await daemon.startScript("app", "exec sleep 1000")).pid > 0);
  await daemon.startScript("job", "sleep 1; exit 7", job);
  await waitFor(async () => (await daemon.status("job")).last_exit?.code === 7);
  await daemon.startScript("done", "sleep 0.6; exit 0", { restart_policy: "on-failure" });
  await waitFor(async () => (await daemon.status("done")).state === "stopped");
});
