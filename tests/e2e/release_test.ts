/** Releases by real git, rsync and ssh. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { lstatIfAny } from "../../src/platform/files/stat.ts";
import { isInstalled } from "../support/installed.ts";
import { cliIn, programWords, TestDaemon } from "../support/procsup.ts";
import { sshdMissing, SshServer } from "../support/ssh_server.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";

const daemon = TestDaemon.ofFile();

const ignore = !isInstalled("git") || !isInstalled("rsync");

const CONFIG = `processes:
  api: { entrypoint: ./app.sh, instances: 2, min_uptime: 100ms, ready_log: up, listen_timeout: 20s }
`;

/** An app in a folder of its own, and a bare repository with a tag for each of its versions. */
class Shop {
  readonly folder: string;
  readonly repository: string;
  readonly #daemon: TestDaemon;
  readonly #work: string;

  constructor(daemon: TestDaemon) {
    this.#daemon = daemon;
    this.folder = `${daemon.home}/shop`;
    this.repository = `${daemon.home}/shop.git`;
    this.#work = `${daemon.home}/work`;
    for (const folder of [this.folder, this.#work]) Deno.mkdirSync(folder);
    this.#git(daemon.home, "init", "-q", "--bare", this.repository);
    this.#git(this.#work, "init", "-q");
    this.write(this.folder, "first");
    Deno.writeTextFileSync(`${this.folder}/procsup.yaml`, CONFIG);
  }

  /** Writes the app, which prints its version and does `then`. */
  write(folder: string, version: string, then = "echo up; exec sleep 1000"): void {
    const text = `#!/bin/sh\necho ${version} in $PWD\n${then}\n`;
    Deno.writeTextFileSync(`${folder}/app.sh`, text, { mode: 0o755 });
  }

  tag(version: string, then?: string): void {
    this.write(this.#work, version, then);
    this.#git(this.#work, "add", "-A");
    this.#git(this.#work, "commit", "-q", "-m", version);
    this.#git(this.#work, "tag", version);
    this.#git(this.#work, "push", "-q", this.repository, version);
  }

  #git(cwd: string, ...args: string[]): void {
    const who = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
    const { success, stderr } = new Deno.Command("git", { cwd, args: [...who, ...args] })
      .outputSync();
    assert(success, new TextDecoder().decode(stderr));
  }

  source(version: string): string {
    return `file://${this.repository}#${version}`;
  }

  async release(version: string, ...more: string[]) {
    return await this.#daemon.cli("release", "api", "--from", this.source(version), ...more);
  }

  /** The folders in which the app runs, as its own processes know it, and in which it is wanted. */
  async folders(): Promise<(string | undefined)[]> {
    const all = await this.#daemon.client.call("list");
    return all.filter(({ name }) => name.startsWith("api")).flatMap(({ pid, config }) => [
      pid > 0 ? Deno.readLinkSync(`/proc/${pid}/cwd`).replace(this.folder, "") : undefined,
      String(config.cwd).replace(this.folder, ""),
    ]);
  }

  async runs(folder: string): Promise<void> {
    assertEquals(await this.folders(), [folder, folder, folder, folder]);
  }

  get releases(): string[] {
    return Array.from(Deno.readDirSync(`${this.folder}/releases`), ({ name }) => name).sort();
  }
}

function sure({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }): string {
  assertEquals(code, 0, stdout + stderr);
  return stdout + stderr;
}

Deno.test(
  "release fetches, builds and tests beside the app, rolls out, and goes back from a bad one",
  {
    ignore,
  },
  async () => {
    const shop = new Shop(daemon);
    sure(await daemon.cli("up", `${shop.folder}/procsup.yaml`));
    await shop.runs("");
    shop.tag("v1");
    shop.tag("bad", "exit 3");
    shop.tag("v2");

    const missing = await daemon.cli("release", "api");
    assertEquals(missing.code, 2);
    assertStringIncludes(missing.stderr, "--from is missing");
    sure(await shop.release("v1", "--build", "echo built >built; pwd", "--test", "test -f built"));
    await shop.runs("/releases/1");
    assertStringIncludes(
      Deno.readTextFileSync(`${shop.folder}/releases/1.log`),
      "/shop/releases/1\n",
    );

    const untested = await shop.release("v2", "--test", "echo it is broken; false");
    assertEquals(untested.code, 1);
    assertStringIncludes(
      untested.stderr,
      'Release 2 of "api" is not made: "sh" ended with exit code 1',
    );
    assertStringIncludes(Deno.readTextFileSync(`${shop.folder}/releases/2.log`), "it is broken");
    assertEquals(lstatIfAny(`${shop.folder}/releases/2`), undefined);
    await shop.runs("/releases/1");

    const bad = await shop.release("bad");
    assertEquals(bad.code, 1, bad.stdout);
    assertStringIncludes(bad.stderr, "exited with code 3");
    assertStringIncludes(bad.stderr, "api: the release before runs on all of them again");
    await shop.runs("/releases/1");

    // A file names the folder of all releases.
    assertStringIncludes(sure(await daemon.cli("up", `${shop.folder}/procsup.yaml`)), "up to date");
    await shop.runs("/releases/1");

    sure(await shop.release("v2"));
    await shop.runs("/releases/4");
    const rows = JSON.parse((await daemon.cli("release", "list", "api", "--json")).stdout);
    const build = "echo built >built; pwd";
    assertEquals(
      rows.map((row: Record<string, unknown>) => [row.name, row.current, row.after, row.build]),
      [
        ["4", true, 1, build],
        ["3", false, 1, build],
        ["1", false, null, build],
      ],
    );
    assertMatch(rows[0].revision, /^[0-9a-f]{40}$/);
    // Not to the bad one between them.
    sure(await daemon.cli("release", "undo", "api"));
    await shop.runs("/releases/1");

    const dist = `${daemon.home}/dist`;
    Deno.mkdirSync(dist);
    shop.write(dist, "copied");
    for (const number of [5, 6]) {
      const words = ["--build", ":", "--test", ":", "--keep", "1"];
      sure(await daemon.cli("release", "api", "--from", dist, ...words));
      await shop.runs(`/releases/${number}`);
    }
    assertEquals(shop.releases.filter((name) => /^\d+$/.test(name)), ["5", "6"]);
  },
);

Deno.test(
  "the next daemon ends a release whose daemon and client were killed, as that would have ended",
  {
    ignore,
  },
  async () => {
    const shop = new Shop(daemon);
    sure(await daemon.cli("up", `${shop.folder}/procsup.yaml`));
    const gate = `${daemon.home}/gate`;
    // Each run says what it is once the gate opens.
    shop.tag("good", `while ! test -e ${gate}; do sleep 0.02; done; echo up; exec sleep 1000`);
    shop.tag("bad", `while ! test -e ${gate}; do sleep 0.02; done; exit 4`);
    for (const [version, next] of [["good", "/releases/1"], ["bad", "/releases/2"]] as const) {
      const [program, ...words] = programWords();
      const client = new Deno.Command(program!, {
        args: [...words, "release", "api", "--from", shop.source(version)],
        env: { PROCSUP_HOME: daemon.home },
        ...{ stdin: "null", stdout: "null", stderr: "null" },
      }).spawn();
      await waitFor(async () => (await shop.folders())[0] === next);
      client.kill("SIGKILL");
      await client.status;
      await daemon.kill();
      await daemon.run();
      Deno.writeTextFileSync(gate, "");
      const isOver = async () => {
        const { last_release: last } = await daemon.client.call("why", "api:0");
        return last?.result !== null &&
          (await shop.folders()).every((one) => one === "/releases/1");
      };
      await waitFor(isOver, { what: `${version} to end` });
      Deno.removeSync(gate);
    }
  },
);

Deno.test("release --host and --hosts run there by ssh, and stop at the first that fails", {
  ignore: ignore || sshdMissing(),
}, async () => {
  const shop = new Shop(daemon);
  await using server = await SshServer.start(daemon.home);
  sure(await daemon.cli("up", `${shop.folder}/procsup.yaml`));
  shop.tag("v1");
  const from = ["--from", shop.source("v1")];
  sure(await server.cli("--host", "web1", "release", "api", ...from));
  await shop.runs("/releases/1");
  assertStringIncludes(
    sure(await server.cli("--host", "web1", "release", "list", "api")),
    shop.source("v1"),
  );
  const some = await server.cli("release", "api", ...from, "--hosts", "web1,down,asks");
  assertEquals(some.code, 5, some.stderr);
  assertStringIncludes(some.stderr, "not tried: asks");
  await shop.runs("/releases/2");
  const relative = await server.cli("release", "api", "--from", "./dist", "--hosts", "web1");
  assertEquals(relative.code, 2);
  assertStringIncludes(relative.stderr, 'Invalid source "./dist": a relative path');

  // From a folder of another machine, by rsync.
  const dist = `${daemon.home}/dist of today`;
  Deno.mkdirSync(dist);
  shop.write(dist, "copied");
  const env = { ...server.env, PROCSUP_HOME: daemon.home };
  sure(await cliIn(daemon.home, env, "release", "api", "--from", `server:${dist}`));
  await shop.runs("/releases/3");
});

Deno.test("release does everything as the app's user", {
  ignore: ignore || Deno.uid() !== 0,
}, async () => {
  await using temp = tempHome();
  const folder = temp.path;
  const shop = new Shop(daemon);
  shop.write(folder, "first");
  Deno.chmodSync(folder, 0o755);
  Deno.chownSync(folder, 65534, 65534);
  const keys = { entrypoint: `${folder}/app.sh`, cwd: folder, uid: 65534, gid: 65534 };
  await daemon.client.call("start", { name: "web", min_uptime: "100ms", ...keys });
  const dist = `${folder}/dist`;
  Deno.mkdirSync(dist);
  shop.write(dist, "second");
  sure(await daemon.cli("release", "web", "--from", dist, "--build", "id -u >who"));
  for (const name of ["1", "1.json", "1.log", "1/who", "1/app.sh"]) {
    assertEquals(Deno.statSync(`${folder}/releases/${name}`).uid, 65534, name);
  }
  assertEquals(Deno.readTextFileSync(`${folder}/releases/1/who`), "65534\n");
  // Its record is read with its own rights only.
  Deno.removeSync(`${folder}/releases/1.json`);
  Deno.symlinkSync(`${daemon.home}/token`, `${folder}/releases/1.json`);
  assertEquals((await daemon.cli("release", "list", "web")).stdout, "");
});
