import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Alone, built, mayMount, portable } from "../support/executable.ts";

Deno.test(
  { name: "executable works alone with only HOME", ignore: built === undefined },
  async () => {
    await using scene = new Alone();
    const started = await scene.run(["start", "--name", "a", "--", "sh", "-c", "env; sleep 100"]);
    assertEquals(started.code, 0, started.stderr);
    assertStringIncludes((await scene.run(["list"])).stdout, "running");
    const logs = (await scene.run(["logs", "a", "-n", "200"])).stdout;
    assert(!/DENO_|PROCSUP_EXECUTABLE|PROCSUP_USER|PROCSUP_UNPACKED/.test(logs), logs);
    assertEquals((await scene.run(["shutdown", "--yes"])).code, 0);

    // Variables that the launcher sets for its own Deno hide none of the user's.
    const env = { HOME: scene.path, DENO_DIR: `${scene.path}/own`, DENO_NO_UPDATE_CHECK: "x" };
    const shown = await scene.run(["run", "--", "env"], { env });
    assertStringIncludes(shown.stdout, `DENO_DIR=${env.DENO_DIR}\n`);
    assertStringIncludes(shown.stdout, "DENO_NO_UPDATE_CHECK=x\n");
  },
);

Deno.test(
  {
    name: "portable form unpacks once into a private folder, even with concurrent starts",
    ignore: !portable,
  },
  async () => {
    await using scene = new Alone();
    const all = await Promise.all([1, 2, 3].map(() => scene.run(["version"])));
    for (const { code, stderr } of all) assertEquals([code, stderr], [0, ""]);
    assertEquals(scene.cached(), [scene.hash]);
    assertEquals(Deno.statSync(scene.unpacked).mode! & 0o777, 0o700);
    const before = Deno.statSync(`${scene.unpacked}/deno`).ino;
    assertEquals((await scene.run(["version"])).code, 0);
    assertEquals(Deno.statSync(`${scene.unpacked}/deno`).ino, before);
  },
);

Deno.test(
  { name: "portable form rejects a damaged file and a foreign folder", ignore: !portable },
  async () => {
    await using scene = new Alone();
    const whole = Deno.readFileSync(scene.program);
    Deno.writeFileSync(scene.program, whole.subarray(0, whole.length - 1000));
    const damaged = await scene.run(["version"]);
    assertEquals(damaged.code, 1);
    assertStringIncludes(damaged.stderr, "its checksum is wrong");
    assertEquals(scene.cached(), []);

    Deno.writeFileSync(scene.program, whole);
    await Deno.mkdir(`${scene.path}/elsewhere`);
    Deno.symlinkSync(`${scene.path}/elsewhere`, scene.unpacked);
    const foreign = await scene.run(["version"]);
    assertEquals(foreign.code, 1);
    assertStringIncludes(foreign.stderr, "it is not a folder of yours");
  },
);

Deno.test(
  { name: "portable form replaces modified and missing files", ignore: !portable },
  async () => {
    await using scene = new Alone();
    assertEquals((await scene.run(["daemon", "--detach"])).code, 0);
    const entry = `${scene.unpacked}/portable_entry.js`;
    const text = Deno.readTextFileSync(entry);
    Deno.writeTextFileSync(entry, `console.log("tampered");\n${text}`);
    const mended = await scene.run(["ping"]);
    assertEquals([mended.code, mended.stdout.includes("tampered")], [0, false]);
    assertEquals(Deno.readTextFileSync(entry), text);

    const chunk = [...Deno.readDirSync(scene.unpacked)].find(({ name }) => /^list-/.test(name))!;
    Deno.removeSync(`${scene.unpacked}/${chunk.name}`);
    // The running daemon loads further modules from the restored files.
    assertEquals((await scene.run(["list"])).code, 0);
    assertEquals((await scene.run(["web", "start", "--listen", "127.0.0.1:0"])).code, 0);
    assertEquals(scene.cached(), [scene.hash]);
    assertEquals((await scene.run(["shutdown", "--yes"])).code, 0);
  },
);

Deno.test({ name: "portable form works without HOME", ignore: !portable }, async () => {
  await using scene = new Alone();
  const env = { TMPDIR: scene.path, PROCSUP_HOME: `${scene.path}/home` };
  assertEquals((await scene.run(["ping"], { env })).code, 5);
  const cache = `${scene.path}/procsup-cache-${Deno.uid()}`;
  assertEquals([...Deno.readDirSync(cache)].map(({ name }) => name), [scene.hash]);
  const homeless = await scene.run(["ping"], { env: { TMPDIR: scene.path } });
  assertStringIncludes(homeless.stderr, "neither PROCSUP_HOME nor HOME is set");
});

Deno.test(
  { name: "portable form works with a read-only /tmp", ignore: !portable || !mayMount },
  async () => {
    await using scene = new Alone();
    const mount = "mount -t tmpfs -o ro none /tmp";
    for (const words of [["start", "--name", "a", "--", "sleep", "100"], ["shutdown", "--yes"]]) {
      const { code, stderr } = await scene.run(words, { mount });
      assertEquals(code, 0, stderr);
    }
  },
);

Deno.test(
  {
    name: "portable form reports that its folder is mounted noexec",
    ignore: !portable || !mayMount,
  },
  async () => {
    await using scene = new Alone();
    Deno.mkdirSync(`${scene.path}/.cache`);
    const mount = `mount -t tmpfs -o noexec none ${scene.path}/.cache`;
    const { code, stderr } = await scene.run(["version"], { mount });
    assertEquals(code, 1);
    assertStringIncludes(stderr, "does not run there: is it mounted noexec?");
    assertStringIncludes(
      stderr,
      "hint: set PROCSUP_CACHE to a folder of your own; with sudo: sudo -H",
    );
  },
);

Deno.test(
  {
    name: "portable form reports a full disk, and leaves nothing behind",
    ignore: !portable || !mayMount,
  },
  async () => {
    await using scene = new Alone();
    Deno.mkdirSync(`${scene.path}/.cache`);
    const mount = `mount -t tmpfs -o size=50m none ${scene.path}/.cache`;
    const left = `ls -A ${scene.cache}; echo "left: $(ls -A ${scene.cache})"`;
    const whole = await scene.run(["version"], { mount });
    assertEquals(whole.code, 1);
    assertStringIncludes(whole.stderr, "is the disk full?");
    const again = await scene.run(["version"], {
      mount: `${mount}; ${scene.program} version 2>/dev/null; ${left}`,
    });
    assertStringIncludes(again.stdout, "left: \n");
  },
);
