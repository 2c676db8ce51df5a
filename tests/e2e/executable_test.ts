import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { tempHome } from "../support/temp_home.ts";

const built = Deno.env.get("PROCSUP_TEST_EXECUTABLE");
/** Whether the executable to test is the portable form. */
const portable = built !== undefined &&
  Deno.readTextFileSync(built).slice(0, 200).includes("the portable form");

/** The executable alone in an empty folder, in an environment that holds nothing but HOME. */
function alone() {
  const temp = tempHome();
  const program = `${temp.path}/procsup`;
  Deno.copyFileSync(built!, program);
  Deno.chmodSync(program, 0o755);
  return {
    ...temp,
    program,
    cache: `${temp.path}/.cache/procsup`,
    async run(...args: string[]) {
      const { code, stdout, stderr } = await new Deno.Command(program, {
        args,
        cwd: temp.path,
        clearEnv: true,
        env: { HOME: temp.path },
        stdin: "null",
      }).output();
      const text = new TextDecoder();
      return { code, stdout: text.decode(stdout), stderr: text.decode(stderr) };
    },
  };
}

Deno.test(
  { name: "executable works alone with only HOME", ignore: built === undefined },
  async () => {
    await using scene = alone();
    const started = await scene.run("start", "--name", "a", "--", "sh", "-c", "env; sleep 100");
    assertEquals(started.code, 0, started.stderr);
    assertStringIncludes((await scene.run("list")).stdout, "running");
    const logs = (await scene.run("logs", "a", "-n", "200")).stdout;
    assert(!/DENO_|PROCSUP_EXECUTABLE|PROCSUP_USER/.test(logs), logs);
    assertEquals((await scene.run("shutdown", "--yes")).code, 0);
  },
);

Deno.test(
  { name: "portable form unpacks once into a private folder", ignore: !portable },
  async () => {
    await using scene = alone();
    const all = await Promise.all([1, 2, 3].map(() => scene.run("version")));
    for (const { code, stderr } of all) assertEquals(code, 0, stderr);
    const [folder, ...others] = [...Deno.readDirSync(scene.cache)];
    assertEquals(others, []);
    assertEquals(Deno.statSync(`${scene.cache}/${folder!.name}`).mode! & 0o777, 0o700);
  },
);

Deno.test(
  { name: "portable form refuses a damaged file and a foreign folder", ignore: !portable },
  async () => {
    await using scene = alone();
    const whole = Deno.readFileSync(scene.program);
    Deno.writeFileSync(scene.program, whole.subarray(0, whole.length - 1000));
    const damaged = await scene.run("version");
    assertEquals(damaged.code, 1);
    assertStringIncludes(damaged.stderr, "its checksum is wrong");
    assertEquals([...Deno.readDirSync(scene.cache)], []);

    Deno.writeFileSync(scene.program, whole);
    const hash = /^hash=([0-9a-f]{64})$/m.exec(Deno.readTextFileSync(scene.program))![1]!;
    await Deno.mkdir(`${scene.path}/elsewhere`);
    Deno.symlinkSync(`${scene.path}/elsewhere`, `${scene.cache}/${hash}`);
    const foreign = await scene.run("version");
    assertEquals(foreign.code, 1);
    assertStringIncludes(foreign.stderr, "it is not a folder of yours");
  },
);
