/** Waiting for a start, and the error of a failed one. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { BY_OUR_NAMES } from "../support/link_library.ts";
import { Manager, ProcsupError, StartFailedError } from "../../src/mod.ts";
import { cleanTest, codeOf, openManager, shell, sleeper } from "./support.ts";

const DIES = "echo no room >&2; exit 3";

async function failedStart(act: Promise<unknown>): Promise<StartFailedError> {
  const error = await assertRejects(() => act, StartFailedError);
  assert(error instanceof ProcsupError);
  assertEquals(error.code, "start_failed");
  return error;
}

cleanTest(
  "addProcess() with wait resolves when the app is ready, and throws its output when it is not",
  async () => {
    await using opened = await openManager({ defaults: { restartPolicy: "never" } });
    const { manager } = opened;
    const slow = shell("slow", "sleep 0.1; echo ready; exec sleep 1000", { readyLog: "^ready$" });
    assertEquals(
      manager.inspect(await manager.addProcess({ ...slow, waitReady: true })).ready,
      false,
    );
    await manager.remove("slow");
    assert(manager.inspect(await manager.addProcess(slow, { wait: true })).ready);

    const error = await failedStart(manager.addProcess(shell("dies", DIES), { wait: true }));
    assertEquals(error.summary, 'Cannot start "dies": exited with code 3');
    assertEquals(error.message, `${error.summary}: no room; its last output:\n  no room`);
    assertEquals([error.processName, error.state, error.lastOutput], ["dies", "crashed", [
      "no room",
    ]]);
    assertEquals(manager.inspect("dies").state, "crashed");
    for (const verb of ["restart", "reload"] as const) {
      assertEquals((await failedStart(manager[verb]("dies", { wait: true }))).lastOutput, [
        "no room",
      ]);
    }
  },
);

cleanTest("wait() resolves at a state of a process and of each instance", async () => {
  await using opened = await openManager({ defaults: { restartPolicy: "never" } });
  const { manager } = opened;
  await manager.addProcess(shell("job", "sleep 0.1; exit 4"));
  const [ended] = await manager.wait("job", { for: "exit" });
  assertEquals([ended?.state, ended?.exitCode], ["crashed", 4]);
  await manager.addProcess(sleeper("many", { instances: 3 }));
  assertEquals((await manager.wait("many")).map(({ state }) => state), Array(3).fill("running"));
  const given = manager.wait("many", { for: "stopped", signal: AbortSignal.timeout(20) });
  assertEquals((await assertRejects(() => given)).name, "TimeoutError");
  // @ts-expect-error: it is no point.
  assertEquals(await codeOf(manager.wait("many", { for: "exti" })), "bad_request");

  await manager.addProcess(shell("sent", DIES, { autostart: true }));
  await manager.wait("sent", { for: "exit" });
  for (const point of ["ready", "running"] as const) {
    const failed = manager.wait("sent", { for: point });
    await assertRejects(() => failed, ProcsupError, '"sent" is crashed: exited with code 3');
    assertEquals(await codeOf(failed), "start_failed");
  }
  await manager.stop("sent");
  // One that the clock starts again has not failed for good.
  const cwd = manager.logPath("sent").replace(/\/[^/]*$/, "");
  const again = shell("again", "[ -e go ] && exec sleep 1000; exit 3", {
    ...{ cwd, cronRestart: "* * * * * *" },
  });
  await manager.addProcess({ ...again, autostart: true });
  await manager.wait("again", { for: "exit" });
  const running = manager.wait("again", { for: "running" });
  Deno.writeTextFileSync(`${cwd}/go`, "");
  assertEquals((await running).length, 1);
  const removed = codeOf(manager.wait("sent", { for: "ready" }));
  await manager.remove("sent");
  assertEquals(await removed, "wrong_state");
  const closed = codeOf(manager.wait("many", { for: "stopped" }));
  await manager.close();
  assertEquals(await closed, "none");
  assertEquals(await codeOf(manager.wait("many")), "closed");
});

cleanTest("scale(), signal() and rollingReload() act on the instances", async () => {
  await using opened = await openManager();
  const { manager } = opened;
  await manager.addProcess(sleeper("app", { instances: 2 }));
  await manager.scale("app", "+1");
  const pids = () => manager.list().map(({ pid }) => pid);
  const before = pids();
  assertEquals(before.length, 3);
  await manager.rollingReload("app", { batchSize: "100%", waitReady: false });
  assertEquals(pids().filter((pid) => before.includes(pid)), []);
  await manager.scale("app", 1);
  await manager.signal("app", "SIGKILL");
  await manager.wait("app", { for: "running" });
  assertEquals(await codeOf(manager.signal("app", "SIGNO" as "SIGKILL")), "bad_request");
  assertEquals(await codeOf(manager.scale("app", 0)), "bad_request");
  assertEquals(await codeOf(manager.rollingReload("app", { batchSize: 9 })), "bad_request");
});

cleanTest(
  "a program exits by itself once its manager is closed, whatever it still reads",
  async () => {
    await using opened = await openManager();
    const source = `
    import { Manager } from "${new URL("../../src/mod.ts", import.meta.url)}";
    const manager = await Manager.open({ logDir: "${opened.logDir}/own" });
    await manager.addProcess({ name: "app", binary: "/bin/sh", args: ["-c", "echo up; exec sleep 1000"] });
    const log = manager.logs("app", { follow: true }).getReader();
    await log.read();
    manager.events().getReader().read();
    const rest = log.read();
    await manager.close();
    console.log((await rest).done);`;
    const { code, stdout } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--allow-all",
        ...BY_OUR_NAMES,
        "--ext=ts",
        `data:application/typescript,${encodeURIComponent(source)}`,
      ],
      signal: AbortSignal.timeout(60_000),
    }).output();
    assertEquals([code, new TextDecoder().decode(stdout)], [0, "true\n"]);
  },
);

cleanTest("a followed log ends with the last lines of a removed process", async () => {
  await using opened = await openManager();
  const { manager } = opened;
  const last = "trap 'echo line; printf end; exit 0' TERM; echo up; while :; do sleep 0.01; done";
  await manager.addProcess(shell("app", last));
  const texts = [{}, { grep: "line|end|up" }].map((filter) => {
    return new Response(manager.logs("app", { follow: true, ...filter })).text();
  });
  const reader = manager.logs("app", { follow: true }).getReader();
  await reader.read();
  await manager.remove("app");
  await reader.cancel();
  assertEquals(await Promise.all(texts), ["up\nline\nend", "up\nline\nend\n"]);
});

cleanTest(
  "Manager.open() names mistakes in its options, and leaves foreign directories alone",
  async () => {
    await using opened = await openManager();
    const folder = `${opened.logDir}/sources`;
    Deno.mkdirSync(folder);
    Deno.chmodSync(folder, 0o755);
    const told = async (config: unknown) => {
      const error = await assertRejects(() => Manager.open(config as object), ProcsupError);
      return `${(error as ProcsupError).code} ${error.message}`;
    };
    assertEquals(
      await told({ logdir: folder }),
      'invalid_config Unknown key "logdir": did you mean "logDir"?',
    );
    assertEquals(
      await told({ logDir: "" }),
      'invalid_config Invalid "logDir" "": expected the path of a directory',
    );
    assertEquals(
      await told({ logDir: 5 }),
      'invalid_config Invalid "logDir" 5: expected the path of a directory',
    );
    assertEquals(
      await told({ logDir: folder, defaults: { maxRestarts: NaN } }),
      'invalid_config In the defaults: Invalid "maxRestarts" NaN: JSON cannot hold it',
    );
    assertEquals(
      await told({ logDir: folder, signals: ["SIGTERM", "SIGKILL"] }),
      'invalid_config Invalid "signals" "SIGKILL": no program can listen for it',
    );
    assertEquals(
      await told({ logDir: folder, signals: ["SIGTRM"] }),
      'invalid_config Invalid "signals" "SIGTRM": unknown signal: did you mean "SIGTERM"?',
    );
    Deno.writeTextFileSync(`${folder}/app.ts`, "");
    assertEquals(
      await told({ logDir: folder }),
      `home_unusable Refusing home "${folder}": it is open to other users and has other content: ` +
        "use a separate directory",
    );
    assertEquals(Deno.statSync(folder).mode! & 0o777, 0o755);
    assertEquals([...Deno.readDirSync(folder)].length, 1);
    Deno.removeSync(`${folder}/app.ts`);
    await (await Manager.open({ logDir: folder })).close();
  },
);

cleanTest(
  "an invalid configuration is rejected with the name of the key",
  async () => {
    await using opened = await openManager();
    const { manager } = opened;
    const cycle: Record<string, unknown> = {};
    cycle.hooks = cycle;
    const wrong: [object, string][] = [
      [{ maxRestarts: NaN }, 'Invalid "maxRestarts" NaN'],
      [{ maxRestarts: 5n }, 'Invalid "maxRestarts" 5n'],
      [{ stopTimeout: "-5s" }, 'Invalid "stopTimeout" "-5s"'],
      [
        { healthCheck: { type: "tcp", address: "nohost" } },
        'Invalid "healthCheck.address" "nohost"',
      ],
      [{ readyLog: /x/ }, 'Invalid "readyLog" /x/'],
      [{ cwd: new URL("file:///tmp") }, 'Invalid "cwd" file:///tmp'],
      [
        { restart_policy: "never", restartPolicy: "never" },
        '"restartPolicy" is given in both spellings',
      ],
      [{ env: JSON.parse('{"__proto__": "x"}') }, 'Invalid "env.__proto__"'],
      [cycle, "Cannot read the configuration: Maximum call stack"],
      [{
        get tags() {
          throw new Error("boom");
        },
      }, "Cannot read the configuration: boom"],
      [{
        env: {
          get A() {
            throw new Error("bang");
          },
        },
      }, "Cannot read the configuration: bang"],
    ];
    for (const [part, message] of wrong) {
      const config = Object.create(null, {
        ...Object.getOwnPropertyDescriptors(sleeper("app")),
        ...Object.getOwnPropertyDescriptors(part),
      });
      const error = await assertRejects(() => manager.addProcess(config), ProcsupError, message);
      assertEquals((error as ProcsupError).code, "invalid_config", message);
    }
    for (const nothing of [null, 5, "app", []]) {
      assertEquals(await codeOf(manager.addProcess(nothing as never)), "invalid_config");
    }
    assertEquals(manager.list(), []);
    const config = {
      ...sleeper("app"),
      cwd: undefined,
      args: Object.freeze(["-c", "exec sleep 9"]),
    };
    await manager.addProcess(Object.freeze(config));
    assertEquals(manager.inspect("app").config.cwd, Deno.cwd());
    await manager.addProcess(sleeper("here", { cwd: "." }));
    assertEquals(manager.inspect("here").config.cwd, Deno.cwd());
    for (const tail of [-1, 1.5, NaN, "3"]) {
      assertEquals(
        await codeOf((async () => await manager.logs("app", { tail: tail as number }).cancel())()),
        "bad_request",
      );
    }
  },
);

cleanTest(
  "a script without cwd runs in its own folder, whose files determine its runtime",
  async () => {
    await using opened = await openManager({ defaults: { restartPolicy: "never" } });
    const { manager, logDir } = opened;
    const folder = `${logDir}/project`;
    Deno.mkdirSync(folder);
    Deno.writeTextFileSync(`${folder}/deno.json`, "{}");
    Deno.writeTextFileSync(`${folder}/main.js`, "console.log(Deno.cwd());");
    const script = `${folder}/main.js`;
    const job = await manager.run({ script });
    assertEquals([job.stdout, job.code], [folder, 0], job.stderr);
    const of = async (config: object) => {
      await using app = await manager.add({ name: "app", ...config });
      return [app.info.runtime, app.info.config.cwd];
    };
    assertEquals(await of({ entrypoint: script }), ["deno", folder]);
    // A program does not determine a folder.
    assertEquals((await of({ binary: "/bin/sleep" }))[1], Deno.cwd());
    assertEquals((await of({ entrypoint: "/bin/sleep" }))[1], Deno.cwd());
  },
);
