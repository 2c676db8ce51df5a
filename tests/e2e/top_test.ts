import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { FakeDaemon, runCommandLine } from "../cli/fake_daemon.ts";
import { isAlive, programLine, TestDaemon } from "../support/procsup.ts";
import { tmuxMissing, TmuxTerminal } from "../support/tmux.ts";
import { waitFor } from "../support/wait_for.ts";

const daemon = TestDaemon.ofFile();

const ignore = tmuxMissing();
const PROGRAM = programLine();

/** A terminal that shows `top` for a home. */
async function showTop(home: string, flags = ""): Promise<TmuxTerminal> {
  const terminal = await TmuxTerminal.open({ PROCSUP_HOME: home });
  await terminal.command(
    `stty -g > before; echo shown before; ${PROGRAM} top ${flags}; echo "ended $?"`,
  );
  await terminal.sees("q quit");
  return terminal;
}

/** The terminal has its old screen, cursor and modes again. */
async function assertRestored(terminal: TmuxTerminal, code: number): Promise<void> {
  const screen = await terminal.sees(`ended ${code}`);
  assertStringIncludes(screen, "shown before");
  assertEquals(await terminal.variable("alternate_on"), "0");
  assertEquals(await terminal.variable("cursor_flag"), "1");
  assertEquals(await terminal.variable("wrap_flag"), "1");
  await terminal.command('test "$(stty -g)" = "$(cat before)" && echo same modes');
  await terminal.sees((screen) => /^same modes/m.test(screen));
}

/** Pid of `top`: it leads the foreground group of the terminal, under one shell or two. */
async function pidIn(terminal: TmuxTerminal): Promise<number> {
  const stat = Deno.readTextFileSync(`/proc/${await terminal.variable("pane_pid")}/stat`);
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[5]);
}

/** The number of the last visible line; 0 if there is none. */
function newestLine(screen: string): number {
  return Math.max(0, ...[...screen.matchAll(/line (\d+)/g)].map(([, number]) => Number(number)));
}

const LINES = `i=0; while :; do i=$((i+1)); echo "line $i"; echo "trouble $i" >&2; sleep 0.2; done`;

Deno.test(
  { name: "top lists, filters, marks, and stops after a confirmation", ignore },
  async () => {
    await daemon.startScript("api", LINES, { instances: 2 });
    await daemon.startScript("db", "sleep 1000", { tags: ["store"] });
    await using terminal = await showTop(daemon.home);

    const table = await terminal.sees((screen) =>
      /daemon \d+/.test(screen) && /3 running/.test(screen) && / \d+% /.test(screen)
    );
    assertMatch(table, /^procsup \S+ +cpu +\d+%/);
    assertMatch(table, /^3 apps: 3 running .*daemon \d+/m);
    assertMatch(table, /^▸ +\d+ +api:0 +running +- +\d+\.\d% /m);
    assertMatch(table, /^ +\d+ +db +running/m);

    await terminal.sees((screen) =>
      /logs api:0 ── following/.test(screen) && /line \d/.test(screen)
    );
    await terminal.keys("j");
    await terminal.sees((screen) => /^▸ +\d+ +api:1 /m.test(screen) && /logs api:1/.test(screen));

    await terminal.keys("/");
    await terminal.type("tag:store");
    const filtered = await terminal.sees('1 shown by "tag:store"');
    assert(!filtered.includes("api:0"), filtered);
    await terminal.keys("Enter", "Escape");
    await terminal.sees((screen) => screen.includes("api:0") && !screen.includes("shown by"));

    await terminal.keys("Home", "Space", "Space", "x");
    await terminal.sees("Stop 2 apps? [y/N]");
    await terminal.keys("n");
    await terminal.sees("q quit");
    assertEquals((await daemon.status("api:0")).state, "running");
    // Cancels a confirmation, and pastes: no letter of the paste is a command.
    await terminal.paste("xyd");
    await terminal.keys("x");
    await terminal.sees("Stop 2 apps? [y/N]");
    await terminal.keys("y");
    await terminal.sees("✔ 2 apps stopped");
    await terminal.sees("3 apps: 1 running, 2 stopped");
    assertEquals((await daemon.status("api:1")).state, "stopped");
    assertEquals((await daemon.status("db")).state, "running");

    await terminal.keys("s");
    await terminal.sees("✔ db started");
    await terminal.keys(":");
    await terminal.type("signal USR9 db");
    await terminal.keys("Enter");
    await terminal.sees('Unknown signal "USR9"');
    await terminal.keys(":");
    await terminal.type("delete api");
    await terminal.keys("Enter");
    await terminal.sees("Delete 2 apps? [y/N]");
    await terminal.keys("y");
    await terminal.sees((screen) => /^1 app: 1 running/m.test(screen));
    await terminal.keys("q");
    await assertRestored(terminal, 0);
  },
);

Deno.test(
  { name: "top's log pane follows, pauses, searches and shows stderr", ignore },
  async () => {
    await daemon.startScript("api", LINES);
    // A title, a cleared screen, a moved cursor, an overstrike by direction, a color; all in one
    // line.
    const evil =
      "\\033]0;OWNED\\007\\033[2J\\033[31mred\\033[0m \\033[5;5Hhere \\342\\200\\256abc 日本";
    await daemon.startScript("evil", `printf '${evil}\\n'; exec sleep 1000`);
    await using terminal = await showTop(daemon.home);

    await terminal.keys("Enter");
    await terminal.sees((screen) => /━━ logs api ━━ following/.test(screen));
    await terminal.sees((screen) => /· trouble \d/.test(screen));
    await terminal.keys("e");
    const errors = await terminal.sees((screen) =>
      /stderr only/.test(screen) && /^· trouble \d/m.test(screen) && !/line \d/.test(screen)
    );
    assert(!errors.includes("! trouble"), errors);
    await terminal.keys("e");
    await terminal.sees("line 4");
    await terminal.keys("/");
    await terminal.type("line 4");
    await terminal.keys("Enter");
    await terminal.sees((screen) => /^▸ line 4\d*$/m.test(screen));
    await terminal.keys("g");
    await terminal.sees((screen) =>
      /paused, \d+ below/.test(screen) && screen.includes("line 1\n")
    );
    await terminal.keys("f");
    await terminal.sees("following");

    await terminal.keys("Escape");
    await terminal.sees("── following");
    await terminal.keys("j");
    const shown = await terminal.sees("red here abc 日本");
    assertMatch(shown, /^3 apps|^2 apps: 2 running/m);
    assert((await terminal.variable("pane_title")) !== "OWNED");
    // The app's own color is kept.
    assertStringIncludes(await terminal.colors(), "\x1b[31mred");
  },
);

Deno.test({ name: "top shows details and graph, and fits any size", ignore }, async () => {
  await daemon.startScript("bad", "echo cannot connect >&2; exit 3", { restart_policy: "never" });
  await daemon.startScript("worker-with-a-name-that-is-rather-long", "sleep 1000");
  await using terminal = await showTop(daemon.home);

  await terminal.keys("i");
  const details = await terminal.sees("last lines");
  assertMatch(details, /last exit +3 at/);
  assertMatch(details, /^ {2}cannot connect/m);
  assertMatch(details, /^bad is crashed/m);

  await terminal.resize(60, 20);
  const small = await terminal.sees((screen) =>
    screen.split("\n")[19]?.includes("? help") === true
  );
  for (const line of small.split("\n")) assert(line.length <= 60, line);
  assertMatch(small, /^▸.*bad +crashed/m);
  await terminal.keys("g");
  await terminal.sees((screen) => /── graph bad/.test(screen) && /^mem /m.test(screen));
  await terminal.keys("j");
  await terminal.sees((screen) =>
    /graph worker.*\n.*cpu {2}now/.test(screen) && screen.includes("█")
  );
  await terminal.resize(30, 8);
  await terminal.sees((screen) => /^▸ .*worker\S*… +running/m.test(screen));
  await terminal.resize(15, 3);
  await terminal.sees("15×3 is too");
  await terminal.resize(120, 40);
  await terminal.sees((screen) =>
    screen.includes("worker-with-a-name-that-is-rather-long  running")
  );
  await terminal.keys("?");
  await terminal.sees("stop (asks)");
  await terminal.keys("q");
  await assertRestored(terminal, 0);
});

Deno.test(
  { name: "top survives its daemon, and finds the next one", ignore },
  async () => {
    await daemon.startScript("api", LINES);
    await using terminal = await showTop(daemon.home);
    await terminal.sees((screen) => newestLine(screen) > 0);
    const { pid } = await daemon.status("api");

    await daemon.kill();
    await terminal.sees((screen) =>
      screen.includes("connection lost, retrying") && /^▸ +\d+ +api +running/m.test(screen)
    );
    await terminal.keys("r");
    await terminal.sees("✘ restart api: No daemon answers");

    await daemon.run();
    await terminal.sees((screen) =>
      screen.includes("1 app: 1 running") && !screen.includes("lost")
    );
    assertEquals((await daemon.status("api")).pid, pid);
    const seen = newestLine(await terminal.sees((screen) => newestLine(screen) > 0));
    await terminal.sees((screen) => newestLine(screen) > seen + 3);
  },
);

Deno.test({ name: "top restores the terminal on every exit", ignore }, async () => {
  await daemon.startScript("api", "sleep 1000");
  await using terminal = await showTop(daemon.home);

  await terminal.keys("C-z");
  await terminal.sees((screen) => /Stopped|suspended/i.test(screen));
  assertEquals(await terminal.variable("alternate_on"), "0");
  assertEquals(await terminal.variable("cursor_flag"), "1");
  await terminal.command("fg");
  await terminal.sees((screen) => screen.includes("q quit") && screen.includes("1 app: 1 running"));
  await terminal.keys("i");
  await terminal.sees("details api");
  // The shell does not execute the rest of its line, so the exit code is unknown.
  await terminal.keys("q");
  await waitFor(async () => await terminal.variable("alternate_on") === "0");

  const show = async () => {
    await terminal.command(
      `clear; stty -g > before; echo shown before; ${PROGRAM} top; echo "ended $?"`,
    );
    await terminal.sees("q quit");
  };
  await show();
  const ends: [number, () => unknown][] = [
    [130, () => terminal.keys("C-c")],
    [143, async () => Deno.kill(await pidIn(terminal), "SIGTERM")],
    [129, async () => Deno.kill(await pidIn(terminal), "SIGHUP")],
  ];
  for (const [code, end] of ends) {
    await end();
    await assertRestored(terminal, code);
    await show();
  }
  const last = await pidIn(terminal);
  await terminal.close();
  await waitFor(() => !isAlive(last), { what: "the view to end with its terminal" });
});

Deno.test({ name: "top restores the terminal when it crashes", ignore }, async () => {
  let lists = 0;
  // An invalid answer: an app without any field.
  await using daemon = new FakeDaemon({ list: () => lists++ < 2 ? [] : [{}] });
  const terminal = await TmuxTerminal.open({ PROCSUP_HOME: daemon.home });
  try {
    await terminal.command(`stty -g > before; echo shown before; ${PROGRAM} top; echo "ended $?"`);
    await assertRestored(terminal, 1);
    assertStringIncludes(await terminal.screen(), "error: ");
  } finally {
    await terminal[Symbol.asyncDispose]();
  }
});

Deno.test({ name: "top without colors uses none", ignore }, async () => {
  await daemon.startScript("api", "printf '\\033[31mred\\033[0m\\n'; exec sleep 1000");
  await using terminal = await TmuxTerminal.open({ PROCSUP_HOME: daemon.home, NO_COLOR: "1" });
  await terminal.command(`${PROGRAM} top`);
  await terminal.sees((screen) => screen.includes("q quit") && screen.includes("red"));
  // deno-lint-ignore no-control-regex
  assertEquals((await terminal.colors()).match(/\x1b\[([0-9;]*;)?[349][0-7][0-9;]*m/g), null);
  await terminal.keys("q");
  await terminal.sees((screen) => /^ready\$ $/m.test(screen) || /^ready\$$/m.test(screen));
  await terminal.command(`TERM=dumb ${PROGRAM} top; echo "ended $?"`);
  await terminal.sees('the terminal is "dumb"');
  await terminal.sees("ended 2");
});

Deno.test("top fails without a terminal, and names an alternative", async () => {
  const { code, stderr, stdout } = await runCommandLine(["monit"]);
  assertEquals(code, 2);
  assertEquals(stdout, "");
  assertStringIncludes(stderr, "stdout is not a terminal");
  assertStringIncludes(stderr, "procsup list --watch");
});

Deno.test("top --once prints the table, also to a pipe", async () => {
  await daemon.startScript("api", "sleep 1000");
  const { code, stdout } = await daemon.cli("top", "--once");
  assertEquals(code, 0);
  assertMatch(stdout, /^1 app: 1 running\n +ID +NAME +STATE▾ .*\n +\d+ +api +running.*\n$/);
});
