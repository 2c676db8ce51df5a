/** Programs that run as another user. */

import { assert, assertEquals } from "@std/assert";
import {
  askProgram,
  givenProgram,
  startedByShell,
  startedFor,
} from "../../src/platform/as_user.ts";
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

/** The program's environment, as `env` prints it. */
async function shown(
  { argv: [program, ...args], env }: ReturnType<typeof startedFor>,
  before: readonly string[] = [],
): Promise<Record<string, string>> {
  const [first, ...rest] = [...before, program!, ...args];
  const { stdout, stderr } = await new Deno.Command(first!, { args: rest, env, clearEnv: true })
    .output();
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
    const started = startedFor(NOBODY, { argv: ["/usr/bin/env", "-0"], env: ENV });
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
  assertEquals(await shown(startedFor(NOBODY, { argv: [program, "-0"], env: ENV })), ENV);
});

Deno.test("startedByShell() leaves a program alone unless a shell would lose a variable", async () => {
  const plain = { argv: ["/usr/bin/env", "-0"], env: { PATH: "/usr/bin:/bin", LD_BIND_NOW: "1" } };
  assertEquals(startedByShell(undefined, plain, []), plain);
  const started = startedByShell(undefined, { argv: ["/usr/bin/env", "-0"], env: ENV }, ["SET"]);
  const shell = ["/bin/sh", "-c", 'export SET=here; exec "$@"', "sh"];
  assertEquals(await shown(started, shell), { SET: "here", ...ENV });
});

Deno.test("givenProgram() finds the program, its user and its variables", () => {
  const env = { ...ENV, PROCSUP_RUN_ID: "1" };
  for (const path of ["/bin/app", "/srv/a=b"]) {
    const given = { argv: [path, "-S", "--reuid"], env };
    for (const user of [undefined, { uid: 7, gid: 8 }]) {
      const { argv, env: handed } = startedByShell(user, given, ["LISTEN_PID"]);
      const expected = { ...given, ...user && { user } };
      assertEquals(givenProgram({ argv, env: handed }), expected);
      assertEquals(givenProgram({ argv, env }).env, env, "its own names, after the change");
      const nice = ["/usr/bin/nice", "-n", "5"];
      assertEquals(givenProgram({ argv: [...nice, ...argv], env: handed }), {
        ...expected,
        argv: [...nice, ...given.argv],
      });
    }
  }
  const plain = { argv: ["/usr/bin/env", "-i", "-S", "-- A=${A}", "sh"], env: { e0: "A=1" } };
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
      const program = { argv: [`${home.path}/node`], env: { PATH: "/usr/bin:/bin" } };
      return askProgram(NOBODY, program, "/");
    };
    assertEquals(ask("id -u; echo more"), "65534\n");
    assertEquals(ask("echo v22; setsid sleep 3 >&1 &"), "v22\n");
    assertEquals(ask("exec cat /dev/zero"), "");
  },
);
