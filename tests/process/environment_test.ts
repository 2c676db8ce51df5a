/** The environment that an app starts with. */

import { assertEquals, assertThrows } from "@std/assert";
import { ProcsupError } from "../../src/model/errors.ts";
import { Secrets } from "../../src/platform/launch/secrets.ts";
import { startingEnvironment } from "../../src/platform/users/app_user.ts";
import {
  appEnvironment,
  type EnvironmentSource,
  takenFromShell,
} from "../../src/process/environment.ts";
import { tempHome } from "../support/temp_home.ts";

const INHERITED = { PATH: "/bin", HOME: "/root", TZ: "UTC", SECRET: "1", EDITOR: "vi" };

/** The environment of `api`, without the variables that identify the app. */
function environment(
  changes: Partial<EnvironmentSource["config"]> = {},
  instanceIndex = 0,
): Record<string, string> {
  const config = {
    name: "api",
    namespace: "default",
    cwd: "/",
    env: {},
    envFile: [],
    secrets: {},
    inheritEnv: true,
    incrementEnv: [],
    ...changes,
  };
  const world = { inherited: INHERITED, secrets: new Secrets(INHERITED) };
  const env = appEnvironment(world, { id: "1", name: "api", instanceIndex, config });
  return Object.fromEntries(Object.entries(env).filter(([key]) => !key.startsWith("PROCSUP_")));
}

Deno.test("appEnvironment() sets the variables that identify the app, over everything else", () => {
  const config = {
    name: "api",
    namespace: "shop",
    cwd: "/",
    env: { PROCSUP_NAME: "other" },
    envFile: [],
    secrets: {},
    inheritEnv: true,
    incrementEnv: [],
  };
  const world = { inherited: {}, secrets: new Secrets({}) };
  const env = appEnvironment(world, { id: "1", name: "api:2", instanceIndex: 2, config });
  assertEquals(env, {
    PROCSUP_ID: "1",
    PROCSUP_NAME: "api:2",
    PROCSUP_BASE_NAME: "api",
    PROCSUP_INSTANCE: "2",
    PROCSUP_NAMESPACE: "shop",
  });
});

Deno.test("appEnvironment() inherits everything, the basics, or the basics and named variables", () => {
  const basics = { PATH: "/bin", HOME: "/root", TZ: "UTC" };
  assertEquals(environment({ inheritEnv: true }), INHERITED);
  assertEquals(environment({ inheritEnv: false }), basics);
  assertEquals(environment({ inheritEnv: ["EDITOR", "ABSENT"] }), { ...basics, EDITOR: "vi" });
});

Deno.test("appEnvironment() inherits a shell's environment instead of the supervisor's", () => {
  const shellEnv = { PATH: "/venv/bin:/bin", PORT: "3150" };
  assertEquals(environment({ shellEnv }), shellEnv);
  assertEquals(environment({ shellEnv, env: { PORT: "1" } }), { ...shellEnv, PORT: "1" });
  assertEquals(environment({ shellEnv, inheritEnv: false }), { PATH: "/venv/bin:/bin" });
});

Deno.test("startingEnvironment() gives another user's app from a shell the basics and named variables", () => {
  const shellEnv = { PATH: "/bin", TZ: "UTC", TOKEN: "1", EDITOR: "vi", USER: "root" };
  const user = { uid: 1000, gid: 1000, name: "ann", home: "/home/ann" };
  const own = { PATH: "/bin", TZ: "UTC", HOME: "/home/ann", USER: "ann", LOGNAME: "ann" };
  assertEquals(startingEnvironment(INHERITED, { inheritEnv: true, shellEnv }, user), own);
  const named = startingEnvironment(INHERITED, { inheritEnv: ["EDITOR"], shellEnv }, user);
  assertEquals(named, { ...own, EDITOR: "vi" });
});

Deno.test("takenFromShell() names the variables that come from the shell and not from the supervisor", () => {
  const of = (shellEnv?: Record<string, string>, inheritEnv = true) =>
    takenFromShell(INHERITED, { name: "api", inheritEnv, ...shellEnv && { shellEnv } });
  assertEquals(of(), []);
  assertEquals(of({ ...INHERITED }), []);
  assertEquals(of({ ...INHERITED, PORT: "3150", PATH: "/venv/bin" }), ["PATH", "PORT"]);
  assertEquals(of({ PATH: "/bin", PORT: "3150" }, false), []);
});

Deno.test("appEnvironment() applies files over the inherited environment and env over files, in order", async () => {
  await using home = tempHome();
  await Deno.writeTextFile(`${home.path}/.env`, "A=file\nB=file\nC=file\nEDITOR=ed\n");
  await Deno.writeTextFile(`${home.path}/local.env`, "B=local\n");
  const { A, B, C, EDITOR } = environment({
    cwd: home.path,
    envFile: [".env", `${home.path}/local.env`],
    env: { C: "env" },
  });
  assertEquals([A, B, C, EDITOR], ["file", "local", "env", "ed"]);
});

Deno.test("appEnvironment() names a file that cannot be read", () => {
  const error = assertThrows(() => environment({ envFile: ["absent.env"], cwd: "/tmp" }));
  assertEquals((error as ProcsupError).code, "invalid_config");
  assertThrows(
    () => environment({ envFile: ["absent.env"], cwd: "/tmp" }),
    ProcsupError,
    'Cannot start "api": env_file "/tmp/absent.env" cannot be read',
  );
});

Deno.test("appEnvironment() adds the instance index to incremented variables", () => {
  const changes = { env: { PORT: "3000", ADMIN: "-1" }, incrementEnv: ["PORT", "ADMIN"] };
  for (const index of [0, 1, 7]) {
    const { PORT, ADMIN } = environment(changes, index);
    assertEquals([PORT, ADMIN], [String(3000 + index), String(index - 1)]);
  }
});

Deno.test("appEnvironment() names an incremented variable that is not an integer, and never its value", () => {
  for (const PORT of ["", "3000a", "1.5", " ", "0x", "secret"]) {
    const error = assertThrows(
      () => environment({ env: { PORT }, incrementEnv: ["PORT"] }),
      ProcsupError,
    );
    assertEquals(
      error.message,
      'Cannot start "api": increment_env names "PORT", which is not set to a whole number',
    );
  }
  assertThrows(() => environment({ incrementEnv: ["ABSENT"] }), ProcsupError, '"ABSENT"');
});
