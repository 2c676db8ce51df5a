// deno-lint-ignore-file no-console
/** The acts of the tour. Each promise is checked. */

import { pause, type Stage } from "./stage.ts";

const PATIENCE_MS = 5000;
const DARK_MS = 1500;

/** Runs the whole tour. Throws if a check fails. */
export async function tour(stage: Stage): Promise<void> {
  const url = `http://127.0.0.1:${freePort()}/`;
  await startApps(stage, url);
  await killAnApp(stage, url);
  await killTheDaemon(stage);
  await explainCrashes(stage);
}

async function startApps(stage: Stage, url: string): Promise<void> {
  act("Three apps: a web server, a worker that fails now and then, a writer of numbered lines");
  const numbers = await hasPython() ? "numbers.py" : "numbers.sh";
  const port = new URL(url).port;
  expect(await stage.show("start", "web.ts", "-e", `PORT=${port}`) === 0, "web is started");
  expect(
    await stage.show("start", "worker.sh", numbers, "--max-restarts", "100") === 0,
    "worker and numbers are started",
  );
  await stage.show("list");
  expect((await stage.list()).length === 3, "there are three apps");
  stage.prompt(`curl ${url}`);
  console.log((await get(url)).trimEnd());
}

async function killAnApp(stage: Stage, url: string): Promise<void> {
  act("An app is killed: it comes back");
  const { pid } = await stage.app("web");
  const killedAt = performance.now();
  kill(stage, pid);
  await until("web answers again", async () => !(await get(url)).includes(`pid ${pid},`));
  told(`web serves again after ${Math.round(performance.now() - killedAt)} ms`);
  await stage.show("why", "web");
  const now = await stage.app("web");
  expect(now.pid !== pid && now.restarts === 1, "web has a new pid and one restart");
}

async function killTheDaemon(stage: Stage): Promise<void> {
  act("The daemon itself is killed: no app notices, and no line is lost");
  const before = [await stage.app("web"), await stage.app("numbers")];
  const written = stage.lines("numbers").length;
  kill(stage, stage.daemonPid());
  expect(await stage.show("ping") === 5, "no daemon answers");
  await pause(DARK_MS);
  const meanwhile = stage.lines("numbers").length - written;
  expect(meanwhile > 0, `numbers wrote ${meanwhile} lines while there was no daemon`);
  expect(await stage.show("daemon", "--detach") === 0, "a new daemon is up");
  await stage.show("list");
  const after = [await stage.app("web"), await stage.app("numbers")];
  expect(
    after.every(({ pid, restarts }, i) =>
      pid === before[i]!.pid && restarts === before[i]!.restarts
    ),
    `same pids as before: web ${after[0]!.pid}, numbers ${after[1]!.pid}`,
  );
  await stage.show("stop", "numbers");
  const lines = stage.lines("numbers");
  expect(
    lines.every((line, i) => line === String(i + 1)),
    `numbers wrote ${lines.length} lines: 1 to ${lines.at(-1)}, none missing, none twice`,
  );
}

async function explainCrashes(stage: Stage): Promise<void> {
  act("What went wrong, and why");
  const restarted = async () => {
    const { restarts, state } = await stage.app("worker");
    return restarts > 0 && state === "running";
  };
  await until("the worker fails and comes back", restarted);
  await stage.show("logs", "worker", "-n", "6");
  await stage.show("why", "worker");
  expect((await stage.app("worker")).last_exit?.code === 1, "its exit code is known");
}

function act(title: string): void {
  console.log(`\n%c── ${title}`, "color: cyan");
}

function told(text: string): void {
  console.log(`%c✔ ${text}`, "color: green");
}

function expect(holds: boolean, what: string): void {
  if (!holds) throw new Error(`This did not happen: ${what}`);
  told(what);
}

async function until(what: string, condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!await condition().catch(() => false)) {
    if (performance.now() > deadline) throw new Error(`This did not happen: ${what}`);
    await pause(10);
  }
}

function kill(stage: Stage, pid: number): void {
  stage.prompt(`kill -9 ${pid}`);
  Deno.kill(pid, "SIGKILL");
}

async function get(url: string): Promise<string> {
  // A kept connection would outlive the server that is killed.
  const response = await fetch(url, { headers: { connection: "close" } });
  return await response.text();
}

async function hasPython(): Promise<boolean> {
  try {
    return (await new Deno.Command("python3", { args: ["--version"] }).output()).success;
  } catch {
    return false;
  }
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}
