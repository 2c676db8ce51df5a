/** Programs that run as another user. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  askProgram,
  givenProgram,
  startedByShell,
  startedFor,
} from "../../src/platform/users/as_user.ts";
import { tempHome } from "../support/temp_home.ts";

const rootOnly = { ignore: Deno.build.os !== "linux" || Deno.uid() !== 0 };
const NOBODY = { uid: 65534, gid: 65534, name: "nobody" };
const ENV = {
  PATH: "/usr/bin:/bin",
  LD_BIND_NOW: "1",
  "discovery.type": "single node",
  "-u": "x",
  QUOTED: `' " \\ $PATH \${PATH}\n# %`,
  EMPTY: "",
  PROCSUP_NAME: "api 1",
  SHELLOPTS: "errexit",
  e0: "its own",
};

/** Prints its environment. */
const PRINTING = { argv: ["/usr/bin/env", "-0"], cwd: "/" };

/** The program's environment, as `env` prints it. */
async function shown(
  { argv: [program, ...args], env, cwd }: ReturnType<typeof startedFor>,
  before: readonly string[] = [],
): Promise<Record<string, string>> {
  const [first, ...rest] = [...before, program!, ...args];
  const options = { args: rest, env, cwd, clearEnv: true };
  const { stdout, stderr } = await new Deno.Command(first!, options).output();
  assertEquals(new TextDecoder().decode(stderr), "");
  const entries = new TextDecoder().decode(stdout).split("\0").slice(0, -1);
  return Object.fromEntries(entries.map((entry) => {
    const at = entry.indexOf("=");
    return [entry.slice(0, at), entry.slice(at + 1)];
  }));
}

Deno.test(
  "startedFor() passes every variable on, and none under its own name at first",
  rootOnly,
  async () => {
    const started = startedFor(NOBODY, { ...PRINTING, env: ENV });
    assertEquals(await shown(started), ENV);
    const { PATH, PROCSUP_NAME, ...others } = started.env;
    assertEquals([PATH === ENV.PATH, PROCSUP_NAME], [false, ENV.PROCSUP_NAME]);
    assert(Object.keys(others).every((name) => /^e\d+$/.test(name)));
    assert(!started.argv.join(" ").includes("single"), "a value stands in the arguments");
  },
);

Deno.test("startedFor() starts programs with an equals sign in their path", rootOnly, async () => {
  await using home = tempHome();
  Deno.chmodSync(home.path, 0o755);
  const program = `${home.path}/a=b`;
  Deno.copyFileSync("/usr/bin/env", program);
  Deno.chmodSync(program, 0o755);
  assertEquals(
    await shown(startedFor(NOBODY, { ...PRINTING, argv: [program, "-0"], env: ENV })),
    ENV,
  );
});

Deno.test("startedFor() enters the folder with the rights of the user", rootOnly, async () => {
  await using home = tempHome();
  Deno.mkdirSync(`${home.path}/project`);
  const program = { argv: ["/bin/pwd"], env: {}, cwd: `${home.path}/project` };
  const enter = async () => {
    const { argv: [first, ...args], env, cwd } = startedFor(NOBODY, program);
    return await new Deno.Command(first!, { args, env, cwd, clearEnv: true }).output();
  };
  Deno.chmodSync(home.path, 0o700);
  const { stdout, stderr } = await enter();
  assertEquals(new TextDecoder().decode(stdout), "");
  assertStringIncludes(new TextDecoder().decode(stderr), program.cwd);
  Deno.chmodSync(home.path, 0o711);
  assertEquals(new TextDecoder().decode((await enter()).stdout), `${program.cwd}\n`);
});

Deno.test("startedByShell() leaves a program alone unless a shell would lose a variable", async () => {
  const plain = { ...PRINTING, env: { PATH: "/usr/bin:/bin", LD_BIND_NOW: "1" } };
  assertEquals(startedByShell(undefined, plain, []), plain);
  const started = startedByShell(undefined, { ...PRINTING, env: ENV }, ["SET"]);
  const shell = ["/bin/sh", "-c", 'export SET=here; exec "$@"', "sh"];
  assertEquals(await shown(started, shell), { SET: "here", ...ENV });
});

Deno.test("givenProgram() finds the program, its user and its variables", () => {
  const env = { ...ENV, PROCSUP_RUN_ID: "1" };
  for (const path of ["/bin/app", "/srv/a=b"]) {
    const given = { argv: [path, "-S", "--reuid"], env, cwd: "/srv/a b" };
    for (const user of [undefined, { uid: 7, gid: 8 }]) {
      const { argv, env: handed, cwd } = startedByShell(user, given, ["LISTEN_PID"]);
      const expected = { ...given, ...user && { user } };
      assertEquals(givenProgram({ argv, env: handed, cwd }), expected);
      assertEquals(givenProgram({ argv, env, cwd }).env, env, "its own names, after the change");
      const nice = ["/usr/bin/nice", "-n", "5"];
      assertEquals(givenProgram({ argv: [...nice, ...argv], env: handed, cwd }), {
        ...expected,
        argv: [...nice, ...given.argv],
      });
    }
  }
  const argv = ["/usr/bin/env", "-i", "-S", "-- A=${A}", "sh"];
  const plain = { argv, env: { e0: "A=1" }, cwd: "/" };
  assertEquals(givenProgram(plain), plain);
});

Deno.test(
  "askProgram() runs as the user, with a timeout, and does not wait for its descendants",
  rootOnly,
  async () => {
    await using home = tempHome();
    Deno.chmodSync(home.path, 0o755);
    const ask = (script: string) => {
      Deno.writeTextFileSync(`${home.path}/node`, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      const env = { PATH: "/usr/bin:/bin" };
      return askProgram(NOBODY, { argv: [`${home.path}/node`], env, cwd: "/" });
    };
    assertEquals(ask("id -u; echo more"), "65534");
    assertEquals(ask("echo v22; setsid sleep 3 >&1 &"), "v22");
    assertEquals(ask("exec cat /dev/zero"), "");
  },
);
