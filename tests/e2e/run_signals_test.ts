import { assertEquals, assertStringIncludes } from "@std/assert";
import { lstatIfAny } from "../../src/platform/files/stat.ts";
import { isAlive, programLine } from "../support/procsup.ts";
import { command } from "../support/run_command.ts";
import { type TempHome, tempHome } from "../support/temp_home.ts";
import { tmuxMissing, TmuxTerminal } from "../support/tmux.ts";
import { waitFor } from "../support/wait_for.ts";

/** Writes its pid, and ignores what a terminal sends and a stop. */
const STUBBORN =
  "trap '' HUP INT TERM; echo $$ >app.tmp; mv app.tmp app; while :; do sleep 0.1; done";

async function pidIn(folder: string): Promise<number> {
  const path = `${folder}/app`;
  await waitFor(() => Deno.readTextFileSync(path) !== "", { what: "the app's pid" });
  return Number(Deno.readTextFileSync(path));
}

/** Its home is named, so that a run that did not end leaves nothing in the folder for all. */
function words(home: string): string[] {
  return ["run", "--home", `${home}/home`];
}

for (
  const [how, close] of Object.entries({ "its terminal is closed": true, "its shell ends": false })
) {
  Deno.test({
    name: `run ends apps that ignore SIGHUP, and itself, when ${how}`,
    ignore: tmuxMissing(),
  }, async () => {
    await using terminal = await TmuxTerminal.open({});
    const { folder } = terminal;
    const run = `${programLine()} ${words(folder).join(" ")} --stop-timeout 200ms -- sh -c`;
    Deno.writeTextFileSync(
      `${folder}/start`,
      `echo $$ >run; exec ${run} "${STUBBORN.replace("$$", "\\$\\$")}"\n`,
    );
    // Only a login shell of bash sends SIGHUP to its jobs when it ends.
    await terminal.command("exec bash --login");
    await terminal.command(`shopt -s huponexit; sh start${close ? "" : " &"}`);
    const app = await pidIn(folder);
    const self = Number(Deno.readTextFileSync(`${folder}/run`));
    if (close) await terminal.close();
    else await terminal.keys("C-d");
    await waitFor(() => !isAlive(self) && !isAlive(app));
  });
}

function stubborn(temp: TempHome, ...before: readonly string[]): Deno.ChildProcess {
  const args = [...words(temp.path), "--stop-timeout", "1h", "--", "sh", "-c", STUBBORN];
  return command(args, { before, cwd: temp.path }).spawn();
}

Deno.test("run kills its apps at a second signal, however long their stop timeout is", async () => {
  for (
    const [first, second] of [["SIGINT", "SIGINT"], ["SIGTERM", "SIGTERM"], [
      "SIGQUIT",
      "SIGINT",
    ]] as const
  ) {
    await using temp = tempHome();
    const running = stubborn(temp);
    const app = await pidIn(temp.path);
    running.kill(first);
    // The same signal once more at once is no second one.
    running.kill(first);
    const over = running.output();
    await waitFor(() => {
      if (isAlive(running.pid)) running.kill(second);
      return !isAlive(running.pid);
    });
    const { stderr } = await over;
    assertStringIncludes(new TextDecoder().decode(stderr), "procsup: killing sh\n");
    assertEquals(isAlive(app), false);
  }
});

Deno.test("run under nohup ignores SIGHUP, and passes it on without a terminal", async () => {
  await using temp = tempHome();
  const running = stubborn(temp, "nohup");
  const app = await pidIn(temp.path);
  running.kill("SIGHUP");
  running.kill("SIGUSR1");
  await waitFor(() => !isAlive(app));
  assertEquals((await running.output()).code, 138);
});

Deno.test("run sends a signal that comes during a hook once the app has a pid", async () => {
  await using temp = tempHome();
  const pre_start = "touch hook; until test -e go; do sleep 0.02; done";
  const app = { entrypoint: "/bin/sleep", args: ["1000"], restart_policy: "never" };
  const processes = { app: { ...app, hooks: { pre_start } } };
  Deno.writeTextFileSync(`${temp.path}/procsup.json`, JSON.stringify({ processes }));
  const running = command(words(temp.path), { cwd: temp.path }).spawn();
  await waitFor(() => lstatIfAny(`${temp.path}/hook`) !== undefined, { what: "the hook" });
  running.kill("SIGUSR1");
  Deno.writeTextFileSync(`${temp.path}/go`, "");
  await waitFor(() => !isAlive(running.pid));
  assertEquals((await running.output()).code, 138);
});
