// deno-lint-ignore-file no-console
/**
 * Third-party checks of the MCP surface, from npm, against a live daemon: conformance suites over
 * Streamable HTTP, and the inspector over both transports. Packages that cannot be downloaded are
 * reported and skipped. Also five typical tasks for agents, with the SDK's client. Run `deno task
 * test:mcp`, optionally with `inspector`, `conformance` or `tasks` to select one.
 */

import { TOOLSETS } from "../src/verbs/verb.ts";
import { programWords, TestDaemon } from "../tests/support/procsup.ts";
import { onHttp, onStdio, type TestClient } from "../tests/mcp/clients.ts";
import { authorizingProxy, conformance, SUITES } from "./mcp/conformance.ts";
import { inspect, INSPECTOR, TRIES } from "./mcp/inspector.ts";
import { fetched } from "./mcp/package.ts";
import { Agent, MAX_CALLS, setTheScene, TASKS, tokens } from "./mcp/tasks.ts";

const folder = Deno.makeTempDirSync({ prefix: "procsup-mcp-" });

async function judge(suite: string, url: string): Promise<number> {
  const scenarios = await conformance(suite, url, folder);
  for (const { name, passed, notOurs, failed } of scenarios) {
    const mark = failed.length > 0 ? "✘" : passed > notOurs ? "✔" : "–";
    console.log(
      `  ${mark} ${name}: ${passed} passed, ${failed.length} failed, ${notOurs} not ours`,
    );
    for (const words of failed) console.log(`      ${words}`);
  }
  return scenarios.filter(({ failed }) => failed.length > 0).length;
}

async function judgeAll(url: string, token: string): Promise<number> {
  using proxy = await authorizingProxy(url, token);
  let failures = 0;
  for (const suite of SUITES) {
    const problem = await fetched(suite, folder);
    console.log(problem === undefined ? suite : `skipped: ${suite} cannot be had (${problem})`);
    if (problem === undefined) failures += await judge(suite, `${proxy.url}/mcp`);
  }
  const newest = SUITES.at(-1)!;
  if (await fetched(newest, folder) !== undefined) return failures;
  for (const toolset of TOOLSETS) {
    console.log(`${newest}, ?toolsets=${toolset}`);
    failures += await judge(newest, `${proxy.url}/mcp?toolsets=${toolset}`);
  }
  return failures;
}

async function inspectAll(home: string, url: string, token: string): Promise<number> {
  const problem = await fetched(INSPECTOR, folder);
  if (problem !== undefined) {
    console.log(`skipped: ${INSPECTOR} cannot be had (${problem})`);
    return 0;
  }
  // The inspector passes on as little of the environment as agents do.
  const cache = Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`;
  const targets = {
    "stdio": [
      "-e",
      `DENO_DIR=${cache}`,
      ...programWords(),
      "mcp",
      "--toolsets",
      "all",
      "--home",
      home,
    ],
    "Streamable HTTP": [`${url}/mcp`, "--header", `Authorization: Bearer ${token}`],
  };
  let failures = 0;
  for (const [name, target] of Object.entries(targets)) {
    const problems = await inspect(target, folder);
    console.log(`${INSPECTOR} over ${name}: ${TRIES.length - problems.length}/${TRIES.length}`);
    for (const words of problems) console.log(`  ✘ ${words}`);
    failures += problems.length;
  }
  return failures;
}

/** Does the tasks over both transports. Returns how many failed or took too many calls. */
async function doTasks(): Promise<number> {
  let failures = 0;
  const ways: [string, (daemon: TestDaemon) => Promise<TestClient>][] = [
    ["stdio", (daemon) => onStdio(daemon.home, { args: ["--toolsets", "all"] })],
    ["Streamable HTTP", (daemon) => onHttp(daemon)],
  ];
  for (const [name, connect] of ways) {
    await using daemon = await TestDaemon.start();
    await setTheScene(daemon);
    await using connected = await connect(daemon);
    const { client } = connected;
    const { tools } = await client.listTools();
    const list = new Agent(client);
    await list.use("list_apps");
    console.log(`tasks over ${name}; tokens are characters ÷ 3.6`);
    console.log(
      `  ${tools.length} definitions: ${tokens(tools)} tokens, list_apps: ${list.tokens}`,
    );
    for (const { name, run } of TASKS) {
      const agent = new Agent(client);
      const problem = await run(agent).then(() => undefined, String);
      const isDone = problem === undefined && agent.calls <= MAX_CALLS;
      console.log(
        `  ${isDone ? "✔" : "✘"} ${name}: ${agent.calls} calls, ${agent.tokens} tokens`,
      );
      if (problem !== undefined) console.log(`      ${problem}`);
      if (!isDone) failures++;
    }
  }
  return failures;
}

async function main(only: string | undefined): Promise<number> {
  if (only === "tasks") return await doTasks();
  await using daemon = await TestDaemon.start();
  await daemon.startScript("web", "echo hello; exec sleep 1000");
  const { url } = await daemon.client.call("web_start", { listen: "127.0.0.1:0" });
  const { token } = await daemon.client.call("token");
  const judged = only === "inspector" ? 0 : await judgeAll(url, token);
  const inspected = only === "conformance" ? 0 : await inspectAll(daemon.home, url, token);
  return judged + inspected + (only === undefined ? await doTasks() : 0);
}

try {
  const failures = await main(Deno.args[0]);
  console.log(failures === 0 ? "\nAll good" : `\n${failures} failures`);
  Deno.exitCode = failures === 0 ? 0 : 1;
} finally {
  Deno.removeSync(folder, { recursive: true });
}
