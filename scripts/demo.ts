// deno-lint-ignore-file no-console
/**
 * `deno task demo`: a tour of procsup with three small apps in under 30 seconds, using the real command
 * line in a temporary home. It leaves nothing behind. With `--stay`, everything keeps running until
 * Ctrl-C. The exit code is 1 if a check fails.
 */

import { shellWord } from "../src/model/shell_line.ts";
import { comesTrue, sleep } from "../src/platform/clock.ts";
import { APPS, Stage, WORDS } from "./demo/stage.ts";

const INTERRUPTED = 130;
/** Time for each promise to come true, and time without a daemon. */
const PATIENCE_MS = 5000;
const DARK_MS = 1500;
const PROCSUP = WORDS.map(shellWord).join(" ");

async function main(args: readonly string[]): Promise<number> {
  const unknown = args.find((arg) => arg !== "--stay");
  if (unknown !== undefined) {
    console.error(`Unknown argument "${unknown}"; the only one is --stay`);
    return 2;
  }
  const stage = new Stage();
  const interrupted = interruption();
  const startedAt = performance.now();
  let code = 0;
  try {
    const end = await Promise.race([tour(stage).then(() => "done"), interrupted]);
    if (end === "done" && args.includes("--stay")) await stay(stage, interrupted);
    else if (end !== "done") code = INTERRUPTED;
  } catch (error) {
    console.error(`\n✘ ${error instanceof Error ? error.message : error}`);
    code = 1;
  }
  return await cleanUp(stage, startedAt) ? code : 1;
}

/** Shuts down. Returns whether nothing is left. */
async function cleanUp(stage: Stage, startedAt: number): Promise<boolean> {
  console.log("\n$ procsup shutdown --yes");
  const left = await stage.close();
  for (const what of left) console.error(`✘ left behind: ${what}`);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  if (left.length === 0) console.log(`✔ nothing is left behind (${seconds} s)`);
  return left.length === 0;
}

async function stay(stage: Stage, interrupted: Promise<string>): Promise<void> {
  console.log(`
The apps stay up until Ctrl-C. In another terminal, in ${APPS}:

  export PROCSUP_HOME=${shellWord(stage.home)}
  ${PROCSUP} list
  ${PROCSUP} logs -f
  ${PROCSUP} events
  ${PROCSUP} restart web
  ${PROCSUP} status worker`);
  await interrupted;
}

/** Resolves at the first SIGINT, SIGTERM or SIGHUP. */
function interruption(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      Deno.addSignalListener(signal, () => resolve(signal));
    }
  });
}

function next(): void {
  console.log(`
Try next:
  ${PROCSUP} start <your app>     then: list, logs -f, why, restart, stop
  ${PROCSUP} help`);
}

/** Runs the whole tour. Each promise is checked. Throws if a check fails. */
async function tour(stage: Stage): Promise<void> {
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
  await sleep(DARK_MS);
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
  const holds = () => condition().catch(() => false);
  if (await comesTrue(holds, { ms: PATIENCE_MS, everyMs: 10 })) return;
  throw new Error(`This did not happen: ${what}`);
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

const code = await main(Deno.args);
if (code === 0 && Deno.args.length === 0) next();
Deno.exit(code);
