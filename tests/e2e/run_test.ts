/** `run`: what it prints, hands through and exits with, and when it ends. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { isAlive, programLine } from "../support/procsup.ts";
import { command, run } from "../support/run_command.ts";
import { tempHome } from "../support/temp_home.ts";
import { tmuxMissing, TmuxTerminal } from "../support/tmux.ts";
import { readUntil, waitFor } from "../support/wait_for.ts";

Deno.test("run passes a command's output and exit code on", async () => {
  const { code, stdout, stderr } = await run([
    "run",
    "--",
    "sh",
    "-c",
    "echo a; echo b >&2; exit 7",
  ]);
  assertEquals([code, stdout, stderr], [7, "a\n", "b\n"]);
  assertEquals((await run(["run", "--", "sh", "-c", "kill -9 $$"])).code, 137);
});

Deno.test("run hands its input through to one command, and to none of several", async () => {
  const piped = async (args: readonly string[]) => {
    const child = command(args, { stdin: "piped" }).spawn();
    const written = new Blob(["one\n", "two\n"]).stream().pipeTo(child.stdin).catch(() => {});
    const { code, stdout } = await child.output();
    await written;
    return { code, stdout: new TextDecoder().decode(stdout) };
  };
  assertEquals(await piped(["run", "--", "cat"]), { code: 0, stdout: "one\ntwo\n" });
  assertEquals(await piped(["run", "-i", "2", "--", "cat"]), { code: 0, stdout: "" });
});

Deno.test("hooks may open as many files as the shell that started run", async () => {
  await using temp = tempHome();
  const app = {
    entrypoint: "/bin/sh",
    args: ["-c", "ulimit -S -n; cat hook"],
    restart_policy: "never",
    hooks: { pre_start: "ulimit -S -n >hook" },
  };
  Deno.writeTextFileSync(`${temp.path}/procsup.json`, JSON.stringify({ processes: { app } }));
  const before = ["/bin/sh", "-c", 'ulimit -S -n 512; "$@"; :', "sh"];
  const { stdout } = await run(["run", "--no-prefix"], { cwd: temp.path, before });
  assertEquals(stdout.match(/^512$/mg), ["512", "512"]);
});

Deno.test("run prints every line of a short-lived app, even a last one without newline", async () => {
  const script = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); echo $i; done; printf end";
  const { stdout } = await run(["run", "--", "sh", "-c", script]);
  const lines = stdout.split("\n");
  assertEquals(lines.length, 20_002);
  assertEquals(lines.slice(-3), ["20000", "end", ""]);
  lines.slice(0, -2).forEach((line, at) => assertEquals(line, String(at + 1)));
});

Deno.test("run in a permanent home prints only this run", async () => {
  await using temp = tempHome();
  const words = ["run", "--home", temp.path, "--name", "a", "--", "sh", "-c"];
  assertEquals((await run([...words, "echo first"])).stdout, "first\n");
  assertEquals((await run([...words, "echo second"])).stdout, "second\n");
});

Deno.test("run prints JSON lines", async () => {
  const { stdout } = await run(["run", "-o", "jsonl", "--name", "a", "--", "echo", "hello"]);
  const { name, stream, line } = JSON.parse(stdout);
  assertEquals([name, stream, line], ["a", "stdout", "hello"]);
});

Deno.test({
  name: "run keeps watchers running, prints each app's events, and exits with 130 on Ctrl-C",
  ignore: tmuxMissing(),
}, async () => {
  await using terminal = await TmuxTerminal.open({ TERM: "xterm-256color" });
  // As esbuild --watch and tailwindcss --watch do.
  const watcher = { entrypoint: "/bin/sh", args: ["-c", "echo watching; cat; echo no input"] };
  const failing = { entrypoint: "/bin/sh", args: ["-c", "echo bad >&2; exit 5"], max_restarts: 0 };
  const processes = { watcher, failing, closed: { ...watcher, stdin: false } };
  Deno.writeTextFileSync(`${terminal.folder}/procsup.json`, JSON.stringify({ processes }));
  await terminal.command(`${programLine()} run; echo "code $?"`);
  const lines = ["watcher | watching", "failing · bad", "closed  | no input"];
  const ends = ["failing * errored: exited with code 5", "closed  * stopped: exited with code 0"];
  const screen = await terminal.sees((screen) =>
    [...lines, ...ends].every((line) => screen.includes(line))
  );
  assert(!screen.includes("watcher | no input"), screen);
  await terminal.keys("C-c");
  assertStringIncludes(await terminal.sees("code 130"), "procsup: stopping watcher");
});

Deno.test("run prints the lines of an app while others have yet to start", async () => {
  await using temp = tempHome();
  const go = `${temp.path}/go`;
  const pre_start = `until [ -e ${go} ]; do sleep 0.1; done`;
  const one = { entrypoint: "/bin/sh", restart_policy: "never" };
  const processes = {
    first: { ...one, args: ["-c", "echo one"] },
    late: { ...one, args: ["-c", "echo two"], hooks: { pre_start } },
  };
  Deno.writeTextFileSync(`${temp.path}/procsup.json`, JSON.stringify({ processes }));
  await using child = command(["run"], { cwd: temp.path }).spawn();
  let seen = "";
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    seen += chunk;
    // Without its output the other one never starts, and the run never ends.
    if (seen.includes("one\n")) Deno.writeTextFileSync(go, "");
  }
  assertStringIncludes(seen, "late  | two\n");
  assertEquals((await child.status).code, 0);
});

Deno.test("run ends at a signal during a hook, and starts nothing more", async () => {
  await using temp = tempHome();
  const pre_start = "echo $$ >hook.tmp; mv hook.tmp hook; exec sleep 25";
  const app = {
    entrypoint: "/bin/sh",
    args: ["-c", "echo began; sleep 1000"],
    hooks: { pre_start },
  };
  const file = { processes: { app, later: { ...app, hooks: {}, depends_on: ["app"] } } };
  Deno.writeTextFileSync(`${temp.path}/procsup.json`, JSON.stringify(file));
  const running = command(["run", "procsup.json"], { cwd: temp.path }).spawn();
  let hook = 0;
  await waitFor(() => hook = Number(Deno.readTextFileSync(`${temp.path}/hook`)));
  running.kill("SIGTERM");
  const { code, stdout } = await running.output();
  assertEquals([code, new TextDecoder().decode(stdout).includes("began")], [143, false]);
  assertEquals(isAlive(hook), false);
});

Deno.test("run prints an app's output while others wait for it", async () => {
  await using temp = tempHome();
  const app = { entrypoint: "/bin/sh", args: ["-c", "echo begun; exec sleep 1000"] };
  const first = {
    ...app,
    wait_ready: true,
    health_check: { type: "command", command: "[ -e go ]" },
  };
  const later = { ...app, depends_on: { first: "ready" } };
  const file = { processes: { first, later } };
  Deno.writeTextFileSync(`${temp.path}/procsup.json`, JSON.stringify(file));
  const running = command(["run", "procsup.json"], { cwd: temp.path }).spawn();
  const lines = running.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const seen = await readUntil(lines, "first | begun");
  assert(!seen.includes("later"), seen);
  Deno.writeTextFileSync(`${temp.path}/go`, "");
  await readUntil(lines, "later | begun");
  running.kill("SIGTERM");
  await lines.cancel();
  await running.stderr.cancel();
  await running.status;
});

for (const unread of ["lines", "events"]) {
  Deno.test(`run stops its apps in order when its ${unread} have no reader any more`, async () => {
    await using temp = tempHome();
    const app = (name: string, script: string) => ({
      entrypoint: "/bin/sh",
      args: [
        "-c",
        `trap 'echo ${name} >>ends; exit' TERM; echo READY=1 >"$PROCSUP_READY_FILE"; ${script}`,
      ],
      wait_ready: true,
    });
    const twentySeconds = (act: string) =>
      `i=0; while [ $i -lt 400 ]; do i=$((i+1)); ${act}; sleep 0.05; done`;
    const processes = {
      db: app("db", twentySeconds(":")),
      api: {
        ...app("api", twentySeconds(unread === "lines" ? "echo more" : ":")),
        depends_on: ["db"],
      },
      // More and more events without a reader.
      last: {
        ...{ entrypoint: "sleep", args: ["0.3"], depends_on: ["api"] },
        ...{ restart_policy: "always", restart_delay: "10ms" },
      },
    };
    Deno.writeTextFileSync(`${temp.path}/procsup.json`, JSON.stringify({ processes }));
    const readers = { lines: "| head -1", events: "2>&1 >/dev/null | grep -m 1 'db.*started'" };
    const script = `("$@"; echo $? >code) ${readers[unread as keyof typeof readers]}`;
    const before = ["sh", "-c", script, "sh"];
    await run(["run", "procsup.json"], { before, cwd: temp.path });
    const texts = ["code", "ends"].map((name) => Deno.readTextFileSync(`${temp.path}/${name}`));
    assertEquals(texts, ["141\n", "api\ndb\n"]);
  });
}

Deno.test("run explains what to do where it cannot create its folder", async () => {
  const before = ["env", "TMPDIR=/proc"];
  const { code, stderr } = await run(["run", "--", "true"], { before });
  assertEquals(code, 2);
  assertMatch(stderr, /^error: Cannot create a folder for this run: /);
  assertStringIncludes(stderr, "--home");
});

Deno.test("run --single runs one instance with the environment of its container", async () => {
  await using folder = tempHome();
  const ready = `${folder.path}/ready`;
  await Deno.writeTextFile(
    `${folder.path}/procsup.yaml`,
    `processes:
  db: { command: sleep 1000 }
  api:
    command: sh -c 'echo $COLOR $SIZE; sleep 0.2; echo up; until [ -e "${ready}" ]; do sleep 0.05; done; exit 7'
    env: { COLOR: red, SIZE: small }
    ready_log: up
    instances: 3
    depends_on: [db]
    restart_policy: never
    limits: { memory: 1GB }
run: { critical: [db] }
`,
  );
  const words = ["run", "--single", "api", "--ready-file", ready, "--no-prefix"];
  const { code, stdout } = await run(words, {
    before: ["env", "COLOR=blue"],
    cwd: folder.path,
  });
  assertEquals([code, stdout], [7, "blue small\nup\n"]);
  assert(![...Deno.readDirSync(folder.path)].some(({ name }) => name === "ready"));
});

Deno.test("run --ready-file waits neither for jobs nor for apps with autostart false", async () => {
  await using folder = tempHome();
  const [file, ready] = [`${folder.path}/procsup.yaml`, `${folder.path}/ready`];
  const processes = {
    job: { command: "true", cron: "@yearly" },
    later: { command: "sleep 1000", autostart: false },
    app: {
      command:
        `sh -c 'for i in $(seq 400); do [ -e "${ready}" ] && exit; sleep 0.05; done; exit 1'`,
      restart_policy: "never",
    },
  };
  await Deno.writeTextFile(file, JSON.stringify({ processes }));
  assertEquals((await run(["run", "--ready-file", ready, file])).code, 0);
});

Deno.test("run --single keeps a value that extends a variable of its container", async () => {
  await using folder = tempHome();
  const file = `${folder.path}/procsup.yaml`;
  await Deno.writeTextFile(
    file,
    `processes:
  api:
    command: sh -c 'echo $OPTIONS $SIZE'
    env: { OPTIONS: "\${OPTIONS} --more", SIZE: "\${OTHER:-small}" }
`,
  );
  const { code, stdout } = await run(["run", "--single", "api", "--no-prefix", file], {
    before: ["env", "OPTIONS=--one", "SIZE=large"],
  });
  assertEquals([code, stdout], [0, "--one --more large\n"]);
});

Deno.test("run goes on with a job until it is stopped, but not beside apps that have ended", async () => {
  await using folder = tempHome();
  const file = `${folder.path}/procsup.yaml`;
  const job = { command: "echo ran", cron: "* * * * * *" };
  await Deno.writeTextFile(file, JSON.stringify({ processes: { job } }));
  const child = command(["run", "--no-prefix", file]).spawn();
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  await readUntil(lines, "ran\nran\n");
  child.kill("SIGTERM");
  assertEquals((await child.status).code, 0);
  await lines.cancel();
  await child.stderr.cancel();
  const later = { command: "sleep 1000", autostart: false };
  const app = { command: "sh -c 'exit 3'", restart_policy: "never" };
  await Deno.writeTextFile(file, JSON.stringify({ processes: { job, later, app } }));
  assertEquals((await run(["run", file])).code, 3);
});

Deno.test("run --single starts an app with autostart false: its container was asked for", async () => {
  await using folder = tempHome();
  const file = `${folder.path}/procsup.yaml`;
  const app = { command: "sh -c 'echo ran; exit 3'", restart_policy: "never", autostart: false };
  await Deno.writeTextFile(file, JSON.stringify({ processes: { app } }));
  const { code, stdout } = await run(["run", "--single", "app", "--no-prefix", file]);
  assertEquals([code, stdout], [3, "ran\n"]);
});

Deno.test("run --single --now runs a job at once, and exits with its code", async () => {
  await using folder = tempHome();
  const file = `${folder.path}/procsup.yaml`;
  await Deno.writeTextFile(
    file,
    'cron: { job: { schedule: "@yearly", command: "echo ran; exit 4" } }',
  );
  const { code, stdout } = await run(["run", "--single", "job", "--now", "--no-prefix", file]);
  assertEquals([code, stdout], [4, "ran\n"]);
  const unknown = await run(["run", "--single", "jib", file]);
  assertEquals(unknown.code, 4);
  assertStringIncludes(unknown.stderr, 'did you mean "job"');
  assertEquals((await run(["run", "--single", "job", "--only", "job", file])).code, 2);
});
