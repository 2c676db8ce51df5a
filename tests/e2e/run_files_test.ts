/** What `run` makes of configuration files, its own and those of other tools. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { isAlive } from "../support/procsup.ts";
import { run } from "../support/run_command.ts";
import { type TempHome, tempHome } from "../support/temp_home.ts";

/** A configuration with an app that exits with 5, and one that stays; `run` is its run section. */
function twoApps(run?: unknown): TempHome {
  const temp = tempHome();
  const web = {
    entrypoint: "/bin/sh",
    args: ["-c", "echo web; sleep 0.3; exit 5"],
    restart_policy: "never",
  };
  const side = {
    entrypoint: "/bin/sh",
    args: ["-c", `echo $$ >${temp.path}/pid; exec sleep 1000`],
  };
  Deno.writeTextFileSync(
    `${temp.path}/procsup.json`,
    JSON.stringify({ processes: { web, side }, ...(run === undefined ? {} : { run }) }),
  );
  return temp;
}

for (const by of ["its flag", "its file"] as const) {
  Deno.test(`run stops all apps and exits with the code of the app that is critical by ${by}`, async () => {
    await using temp = twoApps(by === "its file" ? { critical: "web" } : undefined);
    const flag = by === "its flag" ? ["--critical", "web"] : [];
    const { code, stdout } = await run(["run", "procsup.json", ...flag], { cwd: temp.path });
    assertEquals(code, 5);
    assertStringIncludes(stdout, "web  | web\n");
    assert(!isAlive(Number(Deno.readTextFileSync(`${temp.path}/pid`))));
  });
}

Deno.test("run stops all apps and exits with the code of a process-compose exit_on_failure process", async () => {
  await using temp = tempHome();
  const availability = { restart: "exit_on_failure" };
  Deno.writeTextFileSync(
    `${temp.path}/process-compose.yaml`,
    JSON.stringify({
      processes: {
        fine: { command: "true", availability },
        broken: { command: "sh -c 'sleep 0.5; exit 6'", availability },
        side: { command: "sleep 1000" },
      },
    }),
  );
  const { code, stderr } = await run(["run"], { cwd: temp.path });
  assertEquals([code, stderr.includes("not supported")], [6, false], stderr);
});

Deno.test("run takes several files, of which later ones override earlier ones", async () => {
  await using temp = tempHome();
  const write = (name: string, text: string) =>
    Deno.writeTextFileSync(`${temp.path}/${name}`, text);
  write("base.yaml", "processes: { app: { command: echo $WORD, restart_policy: never } }\n");
  write("more.yaml", "processes: { app: { env: { WORD: more } } }\n");
  const { code, stdout } = await run(["run", "base.yaml", "more.yaml"], { cwd: temp.path });
  assertEquals([code, stdout], [0, "app | more\n"]);
});

Deno.test("run ends with the first process of a Procfile, as foreman does", async () => {
  await using temp = tempHome();
  Deno.writeTextFileSync(`${temp.path}/Procfile`, "web: sleep 1000\ntest: echo passed\n");
  const { code, stdout, stderr } = await run(["run"], { cwd: temp.path });
  assertEquals([code, stdout], [0, "test | passed\n"], stderr);
});

Deno.test("run ends with the first crash of a Procfile, as foreman does", async () => {
  await using temp = tempHome();
  const lines = "web: sleep 1000\ntest: echo port $PORT; exit 3\n";
  Deno.writeTextFileSync(`${temp.path}/Procfile`, lines);
  const { code, stdout, stderr } = await run(["run"], { cwd: temp.path, env: { PORT: "8000" } });
  assertEquals([code, stdout], [3, "test | port 8100\n"], stderr);
});

Deno.test("run ends with the apps that --critical names, in place of those in the file", async () => {
  await using temp = tempHome();
  const policy = { restart_policy: "never" };
  const processes = {
    quick: { command: "true", ...policy },
    slow: { command: "sh -c 'sleep 0.5; exit 5'", ...policy },
  };
  const file = { processes, run: { critical: "quick" } };
  Deno.writeTextFileSync(`${temp.path}/procsup.json`, JSON.stringify(file));
  assertEquals((await run(["run"], { cwd: temp.path })).code, 0);
  assertEquals((await run(["run", "--critical", "slow"], { cwd: temp.path })).code, 5);
});

Deno.test("run names what to write for an app or a script in place of a file", async () => {
  await using temp = tempHome();
  Deno.writeTextFileSync(`${temp.path}/Procfile`, "web: sleep 1000\n");
  for (const word of ["web", "server.js"]) {
    const { code, stderr } = await run(["run", "Procfile", word], { cwd: temp.path });
    assertEquals(code, 2);
    assertStringIncludes(stderr, `error: Cannot run "${word}": not a configuration file\n`);
    assertStringIncludes(stderr, "procsup run --only <name>; else: procsup run -- <command>");
  }
  const { code, stderr } = await run(["run", "-e", ".env.test"], { cwd: temp.path });
  assertEquals([code, stderr.includes("Cannot use --env with a configuration file")], [2, true]);
});

Deno.test("run uses the configuration in the folder, or a part or a profile of it", async () => {
  await using temp = await tempHome();
  Deno.writeTextFileSync(
    `${temp.path}/procsup.toml`,
    `[defaults]
restart_policy = "never"
[processes]
db = { entrypoint = "echo", args = ["db"] }
api = { entrypoint = "echo", args = ["api"], depends_on = ["db"] }
web = { entrypoint = "echo", args = ["web"] }
[profiles.loud.processes]
web = { args = ["WEB"] }
[profiles."loud.v2".processes]
web = { args = ["WEB 2"] }
`,
  );
  const lines = async (...flags: string[]) => {
    const { code, stdout } = await run(["run", ...flags], { cwd: temp.path });
    assertEquals(code, 0);
    return stdout.trim().split("\n").toSorted();
  };
  assertEquals(await lines(), ["api | api", "db  | db", "web | web"]);
  assertEquals(await lines("--only", "api"), ["api | api", "db  | db"]);
  assertEquals(await lines("--profile", "loud", "--only", "web"), ["web | WEB"]);
  assertEquals(await lines("--env", "loud.v2", "--only", "web"), ["web | WEB 2"]);
  Deno.removeSync(`${temp.path}/procsup.toml`);
  const none = await run(["run"], { cwd: temp.path });
  assertEquals(none.code, 2);
  assertStringIncludes(none.stderr, "No procsup.yaml in");
});

Deno.test("run rejects a critical app that is not in its list, before any app starts", async () => {
  await using temp = twoApps();
  const flag = await run(["run", "procsup.json", "--critical", "wbe"], { cwd: temp.path });
  assertEquals(flag.code, 2);
  assertStringIncludes(flag.stderr, 'Invalid --critical "wbe": no such app in this run');
  assertEquals(flag.stderr.includes("started"), false);
  await using other = twoApps({ critical: ["wbe"] });
  const file = await run(["run", "procsup.json"], { cwd: other.path });
  assertEquals(file.code, 2);
  assertStringIncludes(file.stderr, '"run.critical" names "wbe", which is not in the file');
  assertStringIncludes(file.stderr, 'did you mean "web"?');
});

Deno.test("run exits with 0 after an exit code in success_exit_codes", async () => {
  await using folder = tempHome();
  const file = `${folder.path}/procsup.yaml`;
  const app = { command: "sh -c 'exit 3'", success_exit_codes: [0, 3] };
  await Deno.writeTextFile(file, JSON.stringify({ processes: { app } }));
  assertEquals((await run(["run", file])).code, 0);
  assertEquals((await run(["run", "--single", "app", file])).code, 0);
});
