import { fromFileUrl } from "@std/path";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { ProcsupError } from "../../src/model/errors.ts";
import { Files } from "../config/files.ts";
import { tempHome } from "../support/temp_home.ts";
import { FakeDaemon, runCommandLine } from "./fake_daemon.ts";

const FILES = fromFileUrl(import.meta.resolve("../../src/import/tests/fixtures/"));

Deno.test("procsup restart, reload, stop and delete reject a file that is not a target", async () => {
  await using daemon = new FakeDaemon({});
  const file = `${FILES}pm2/ecosystem.config.js`;
  const verbs = ["restart", "reload", "stop", "delete"];
  const answers = await Promise.all(verbs.map((verb) => daemon.run(verb, "api", file)));
  for (const [index, { code, stderr }] of answers.entries()) {
    const [error, hint] = stderr.split("\n");
    assertEquals([code, error], [2, `error: Cannot ${verbs[index]} "${file}": it is a file`]);
    const wanted = index < 2 ? `procsup start ${file} applies` : `procsup down ${file} stops`;
    assertEquals(hint?.startsWith(`  hint: ${wanted}`), true, hint);
  }
  assertEquals(daemon.requests, []);
});

Deno.test("procsup restart sends a target that only looks like a file", async () => {
  await using daemon = new FakeDaemon({ restart: () => ({ status: "restarted", results: [] }) });
  await daemon.run("restart", "api.config.js");
  assertEquals(daemon.requests.map(({ payload }) => payload), [
    { target: "api.config.js", wait: true },
  ]);
});

Deno.test("procsup start rejects a configuration file beside an app", async () => {
  await using daemon = new FakeDaemon({});
  await using home = tempHome();
  for (const name of ["procsup.yaml", "app.js"]) Deno.writeTextFileSync(`${home.path}/${name}`, "");
  const words = ["start", "app.js", "procsup.yaml"];
  const { code, stderr } = await runCommandLine(words, { PROCSUP_HOME: daemon.home }, home.path);
  assertEquals([code, stderr.split("\n").slice(0, 2)], [2, [
    'error: Cannot start "procsup.yaml" together with apps: it is a file of apps',
    "  hint: procsup start procsup.yaml",
  ]]);
  assertEquals(daemon.requests, []);
});

Deno.test("procsup import says why it cannot write its output", async () => {
  await using home = tempHome();
  Deno.writeTextFileSync(`${home.path}/file`, "");
  const outs = {
    [`${home.path}/none/procsup.yaml`]: "no such folder",
    [`${home.path}/file/procsup.yaml`]: "no such folder",
    [home.path]: "it is a folder",
  };
  for (const [out, why] of Object.entries(outs)) {
    for (const force of [[], ["--force"]]) {
      const words = ["import", `${FILES}procfile/Procfile`, "--out", out, ...force];
      const { code, stderr } = await runCommandLine(words);
      assertStringIncludes(stderr, `error: Cannot write "${out}": ${why}\n`);
      assertEquals(code, 2);
    }
  }
});

Deno.test("procsup import recognizes the tool by the file's name", async () => {
  for (
    const name of ["pm2/ecosystem.config.js", "supervisord/supervisord.conf", "procfile/Procfile"]
  ) {
    const [short, long] = await Promise.all([
      runCommandLine(["import", FILES + name]),
      runCommandLine(["import", name.split("/")[0]!, FILES + name]),
    ]);
    assertEquals([short.code, short.stdout], [0, long.stdout], name);
  }
  const unknown = await runCommandLine(["import", "apps.yaml"]);
  assertEquals(unknown.stderr.split("\n")[0], "error: apps.yaml: no such file");
  for (const tool of ["systemd", "pm2"]) {
    const { code, stderr } = await runCommandLine(["import", tool, FILES]);
    assertEquals(
      [code, stderr.includes("fixtures: cannot be read: it is a folder")],
      [2, true],
      tool,
    );
  }
  const none = await runCommandLine(["import", "pm2"]);
  assertEquals([none.code, none.stderr.includes("procsup import pm2 <file>")], [2, true]);
});

Deno.test("procsup import names the folder of relative paths if it writes into another one", async () => {
  await using home = tempHome();
  await Deno.mkdir(`${home.path}/out`, { recursive: true });
  const file = `${home.path}/Procfile`;
  await Deno.writeTextFile(file, "web: sleep 1\n");
  const beside = await runCommandLine(["import", file, "--out", `${home.path}/procsup.yaml`]);
  assertEquals([beside.code, beside.stderr], [0, ""]);
  const { code, stderr } = await runCommandLine([
    ...["import", file, "--out", `${home.path}/out/procsup.yaml`],
  ]);
  assertEquals(code, 0);
  assertEquals(stderr, `relative paths in it are those of ${home.path}: move it there\n`);
});

Deno.test("procsup import compose explains why no service can run without a container", async () => {
  const folder = await Deno.makeTempDir({ prefix: "procsup_cli_" });
  try {
    const file = `${folder}/docker-compose.yml`;
    await Deno.writeTextFile(file, "services:\n  web: { image: node }\n");
    const { code, stderr } = await runCommandLine(["import", "compose", file]);
    assertEquals([code, stderr.includes("no service can run without a container")], [2, true]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("procsup shutdown suggests a daemon only where apps may run without one", async () => {
  const home = await Deno.makeTempDir({ prefix: "procsup_cli_" });
  try {
    const { code, stderr } = await runCommandLine(["shutdown"], { PROCSUP_HOME: home });
    assertEquals([code, stderr.includes("There is nothing to stop")], [5, true]);
    assertEquals(stderr.includes("--detach"), false);
    await Deno.mkdir(`${home}/run`);
    await Deno.writeTextFile(`${home}/run/1.pid`, "1\n");
    const running = await runCommandLine(["shutdown"], { PROCSUP_HOME: home });
    assertStringIncludes(running.stderr, "Apps may run without it");
  } finally {
    await Deno.remove(home, { recursive: true });
  }
});

Deno.test("procsup start reads words after a program as its arguments, and starts nothing", async () => {
  await using daemon = new FakeDaemon({
    start: () => {
      throw new ProcsupError("process_not_found", "process not found", { hint: "of the daemon" });
    },
  });
  const program = await daemon.run("start", "sh", "worker", "job");
  assertEquals(program.code, 4);
  assertEquals(
    program.stderr.split("\n")[1],
    "  hint: A command on PATH is started with: procsup start -- sh worker job",
  );
  assertEquals(daemon.requests.length, 1);
  const none = await daemon.run("start", "nosuchword");
  assertEquals(none.stderr.includes('"nosuchword": no such file here'), true);
  const env = { PROCSUP_HOME: daemon.home };
  const folder = await runCommandLine(["start", "pm2"], env, FILES);
  assertStringIncludes(folder.stderr, "hint: To start this folder: procsup start ./pm2\n");
});

Deno.test("procsup config validate and plan need no daemon and, with --no-files, none of the target's files", async () => {
  await using files = new Files({
    "Procfile": "web: nosuch --port 1\n",
    "ci.yaml": 'processes: { a: { command: "nosuch ${NOT_SET}", health_check: ' +
      '{ type: http, url: "${ALSO_NOT_SET:-http://127.0.0.1/}" } } }\n',
  });
  const env = { PROCSUP_HOME: `${files.folder}/home` };
  const run = (...args: string[]) => runCommandLine(args, env, files.folder);
  const [refused, planned, missing, skipped, unset, assumed] = await Promise.all([
    run("config", "plan"),
    run("config", "plan", "--no-files"),
    run("config", "validate"),
    run("config", "validate", "--no-files"),
    run("config", "plan", "ci.yaml"),
    run("config", "plan", "ci.yaml", "--no-files"),
  ]);
  assertEquals([refused.code, refused.stdout], [2, ""]);
  assertStringIncludes(refused.stderr, 'Procfile: cannot start "web": entrypoint "nosuch"');
  assertEquals([planned.code, planned.stdout], [0, "+ web  new\n"]);
  assertEquals(planned.stderr, "using Procfile\nno daemon is running: everything is new\n");
  assertEquals([missing.code, skipped.code], [2, 0]);
  assertEquals([unset.code, assumed.code, assumed.stdout], [2, 0, "+ a  new\n"]);
});

Deno.test("procsup config validate gives the line of each missing program and watched path, and of a log that is a folder", async () => {
  await using files = new Files({
    "procsup.yaml":
      "processes:\n  a: { entrypoint: sleep 1, watch: { paths: [nonexist] }, log: { stderr: . } }\n",
  });
  const env = { PROCSUP_HOME: `${files.folder}/home` };
  const run = (...args: string[]) => runCommandLine(args, env, files.folder);
  const [missing, skipped] = await Promise.all([
    run("config", "validate"),
    run("config", "validate", "--no-files"),
  ]);
  assertEquals([missing.code, skipped.code], [2, 0]);
  assertStringIncludes(missing.stderr, 'procsup.yaml:2:3 cannot start "a"');
  assertStringIncludes(missing.stderr, "\n  hint: To run a program with arguments, use command: ");
  const watched = `"${files.folder}/nonexist": no such file or directory`;
  assertStringIncludes(missing.stderr, `procsup.yaml:2:3 "a": invalid "watch.paths" ${watched}`);
  const log = `log.stderr "${files.folder}" is not safe to write to: it is not a file`;
  assertStringIncludes(missing.stderr, `procsup.yaml:2:3 cannot start "a": ${log}`);
});

Deno.test("procsup config validate refuses two apps with one socket or one log, as up does", async () => {
  await using files = new Files({
    "procsup.yaml": `processes:
  a: { command: sleep 1, sockets: ["localhost:8301"], log: { stdout: x.log, stderr: x.log } }
  b: { command: sleep 1, sockets: ["127.0.0.1:8301"], log: { stderr: ./x.log } }
  c: { command: sleep 1, log: { stdout: "{name}.log" } }
`,
  });
  const run = (...args: string[]) =>
    runCommandLine(args, { PROCSUP_HOME: `${files.folder}/home` }, files.folder);
  const { code, stderr } = await run("config", "validate");
  assertEquals(code, 2);
  const where = 'error: procsup.yaml:3:3 cannot start "b":';
  assertStringIncludes(stderr, `${where} socket "127.0.0.1:8301" belongs to "a"\n`);
  assertStringIncludes(stderr, `${where} log "${files.folder}/x.log" belongs to "a"\n`);
  assertEquals((await run("config", "validate", "--only", "b,c")).code, 0);
});

Deno.test("procsup up explains how to import a compose file in the folder", async () => {
  await using folder = tempHome();
  const up = () => runCommandLine(["up"], { PROCSUP_HOME: folder.path }, folder.path);
  assertStringIncludes((await up()).stderr, "hint: procsup init");
  Deno.writeTextFileSync(`${folder.path}/compose.yaml`, "services: {}\n");
  const { code, stderr } = await up();
  assertEquals(code, 2);
  assertStringIncludes(stderr, "hint: procsup import compose compose.yaml --out procsup.yaml");
  Deno.writeTextFileSync(`${folder.path}/compose.override.yaml`, "services: {}\n");
  assertEquals((await up()).stderr, stderr);
});
