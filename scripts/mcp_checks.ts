// deno-lint-ignore-file no-console
/**
 * Foreign judges of the MCP surface, from npm, against a live daemon: the conformance suites over
 * Streamable HTTP, and the inspector's command line over both transports. What cannot be downloaded is
 * skipped, and said. `deno task test:mcp`, or with `inspector` or `conformance` for one of them.
 */

import { programWords, TestDaemon } from "../tests/support/procsup.ts";
import { authorizingProxy } from "./mcp/authorizing_proxy.ts";
import { conformance, SUITES } from "./mcp/conformance.ts";
import { inspect, INSPECTOR, TRIES } from "./mcp/inspector.ts";
import { fetched } from "./mcp/package.ts";

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
  return failures;
}

async function inspectAll(home: string, url: string, token: string): Promise<number> {
  const problem = await fetched(INSPECTOR, folder);
  if (problem !== undefined) {
    console.log(`skipped: ${INSPECTOR} cannot be had (${problem})`);
    return 0;
  }
  // The inspector hands on no more of the environment than agents do.
  const cache = Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`;
  const targets = {
    "stdio": ["-e", `DENO_DIR=${cache}`, ...programWords(), "mcp", "--home", home],
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

async function main(only: string | undefined): Promise<number> {
  await using daemon = await TestDaemon.start();
  await daemon.startScript("web", "echo hello; exec sleep 1000");
  const { url } = await daemon.client.call("web_start", { listen: "127.0.0.1:0" });
  const { token } = await daemon.client.call("token");
  const judged = only === "inspector" ? 0 : await judgeAll(url, token);
  const inspected = only === "conformance" ? 0 : await inspectAll(daemon.home, url, token);
  return judged + inspected;
}

try {
  const failures = await main(Deno.args[0]);
  console.log(failures === 0 ? "\nAll good" : `\n${failures} failures`);
  Deno.exitCode = failures === 0 ? 0 : 1;
} finally {
  Deno.removeSync(folder, { recursive: true });
}
