// deno-lint-ignore-file no-console
/**
 * Reads a log of a gigabyte, once as one line without newline and once as many lines, in every
 * possible way. Expected: with the one line the daemon's memory grows by less than 50 MB; with many
 * lines, which become gigabytes of JSON, by less than 200 MB, most of which is garbage; and answers are
 * capped.
 *
 * `deno run -A scripts/faults/web_huge_log.ts [megabytes]`
 */

import { waitFor } from "../../tests/support/wait_for.ts";
import { TestWeb } from "../../tests/support/web.ts";

const MIB = 1024 * 1024;
const [ONE_LINE, MANY_LINES] = [50 * MIB, 200 * MIB];

/** A request and the number of bytes received. */
type Ways = readonly (readonly [string, (web: TestWeb) => Promise<number>])[];

async function length(web: TestWeb, path: string): Promise<number> {
  const response = await fetch(`${web.url}${path}`, {
    headers: { authorization: `Bearer ${web.token}` },
  });
  if (response.status !== 200) throw new Error(`${path}: ${response.status}`);
  let bytes = 0;
  for await (const chunk of response.body!) bytes += chunk.length;
  return bytes;
}

const LOGS = "/api/v1/processes/big/logs";

const WAYS: Ways = [
  ["REST, the last 50 lines", (web) => length(web, LOGS)],
  ["REST, the last 10,000 lines", (web) => length(web, `${LOGS}?lines=10000`)],
  ["REST, words that are not there", (web) => length(web, `${LOGS}?grep=zebra`)],
  ["REST, an expression", (web) => length(web, `${LOGS}?grep=${encodeURIComponent("y+z$")}`)],
  ["REST, with times", (web) => length(web, `${LOGS}?timestamps=true`)],
  ["stream, the last 10,000 lines", (web) => length(web, "/api/v1/logs?target=big&lines=10000")],
  ["stream, all of it", (web) => length(web, "/api/v1/logs?target=big&lines=0")],
  ["stream, filtered", (web) => length(web, "/api/v1/logs?target=big&grep=zebra")],
  ["procsup logs -n 10000", async (web) => {
    return (await web.daemon.cli("logs", "big", "-n", "10000")).stdout.length;
  }],
  ["procsup logs --grep", async (web) => {
    return (await web.daemon.cli("logs", "big", "--grep", "zebra")).stdout.length;
  }],
  ["MCP get_logs", async (web) => {
    const call = { name: "get_logs", arguments: { target: "big", lines: 1000 } };
    const answer = await web.ask("POST", "/mcp", {
      ...{ jsonrpc: "2.0", id: 1, method: "tools/call", params: call },
    }, { accept: "application/json, text/event-stream" });
    return answer.text.length;
  }],
  ["WebSocket, the last 10,000 lines", async (web) => {
    using feed = await web.feed();
    feed.send({ type: "subscribe", topics: ["logs"], target: "big", lines: 10_000 });
    await waitFor(() => feed.of("log").length > 0, { timeoutMs: 120_000 });
    return Math.max(...feed.texts.map((text) => text.length));
  }],
];

/** The highest memory use of the daemon during a request. */
async function mostDuring<T>(web: TestWeb, act: () => Promise<T>): Promise<[T, number]> {
  let most = web.memory();
  const timer = setInterval(() => most = Math.max(most, web.memory()), 50);
  const result = await act();
  clearInterval(timer);
  return [result, most];
}

async function fault(
  title: string,
  { command, bytes, limit }: { command: string; bytes: number; limit: number },
): Promise<boolean> {
  await using web = await TestWeb.start();
  // Load modules with a first request, so that they do not count.
  await web.daemon.startScript("big", "echo x; exec sleep 100000");
  for (const [, ask] of WAYS) await ask(web);
  await web.daemon.client.call("delete", "big");
  await web.daemon.startScript("big", `${command}; exec sleep 100000`, {
    log: { max_size: "8GB", compress: false },
  });
  const log = `${web.daemon.home}/apps/big/stdout.log`;
  const before = web.memory();
  const [, writing] = await mostDuring(
    web,
    () => waitFor(() => Deno.statSync(log).size >= bytes, { timeoutMs: 600_000 }),
  );
  console.log(`${title}: ${bytes / MIB} MiB written, daemon ${report(before, writing)}`);
  let isGood = writing - before < limit;
  for (const [way, ask] of WAYS) {
    const began = performance.now();
    const [got, most] = await mostDuring(web, () => ask(web));
    isGood &&= most - before < limit;
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    console.log(`  ${way}: ${(got / MIB).toFixed(1)} MiB in ${seconds} s, ${report(before, most)}`);
  }
  return isGood;
}

function report(before: number, most: number): string {
  return `${(before / MIB).toFixed(0)} → ${(most / MIB).toFixed(0)} MiB`;
}

async function main([megabytes = "1024"]: readonly string[]): Promise<number> {
  const bytes = Number(megabytes) * MIB;
  const command = `head -c ${bytes} /dev/zero | tr '\\0' y`;
  const one = await fault("One line", { command, bytes, limit: ONE_LINE });
  const lines = `yes ${"y".repeat(99)} | head -c ${bytes}`;
  const many = await fault("Many lines", { command: lines, bytes, limit: MANY_LINES });
  console.log(one && many ? "ok" : "More memory was taken than there should be");
  return one && many ? 0 : 1;
}

Deno.exit(await main(Deno.args));
