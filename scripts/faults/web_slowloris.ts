// deno-lint-ignore-file no-console
/**
 * Opens hundreds of connections that send half a request, nothing, or half a body, and hundreds that
 * stay open after a request. Expected: all are closed within 11 s, and a healthy client is answered
 * within 100 ms meanwhile. On a busy machine compare that with the printed delay of an idle program's
 * timer.
 *
 * While they all connect at once, a later client waits behind them in the queue of the listening
 * socket, since accepting a connection takes the daemon about 0.1 ms. That time is printed separately.
 *
 * `deno run -A scripts/faults/web_slowloris.ts [half-open] [idle]`
 */

import { sleep } from "../../src/platform/clock.ts";
import { TestWeb } from "../../tests/support/web.ts";

const HOST = "Host: localhost\r\n";
const HALF_OPEN = [
  "",
  "GET /livez HTTP/1.1\r\nX-A: ",
  `POST /api/v1/processes HTTP/1.1\r\n${HOST}Content-Length: 100\r\n\r\n{`,
];
const IDLE = [`GET /livez HTTP/1.1\r\n${HOST}\r\n`];

async function opened(web: TestWeb, count: number, requests: readonly string[]) {
  return await Promise.all(
    Array.from({ length: count }, (_, i) => web.connect(requests[i % requests.length]!)),
  );
}

/** Sends requests until told to stop. Returns the duration of each in milliseconds. */
function healthy(web: TestWeb): { stop(): Promise<number[]> } {
  let isOver = false;
  const times: number[] = [];
  const run = (async () => {
    while (!isOver) {
      const asked = performance.now();
      await web.ask("GET", "/api/v1/processes");
      times.push(performance.now() - asked);
      await sleep(20);
    }
  })();
  return {
    async stop() {
      isOver = true;
      await run;
      return times.sort((a, b) => a - b);
    },
  };
}

/** The largest delay of a timer of this idle program, in milliseconds. */
function machineDelay(): { stop(): number } {
  let last = performance.now();
  let worst = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    worst = Math.max(worst, now - last - 10);
    last = now;
  }, 10);
  return {
    stop() {
      clearInterval(timer);
      return worst;
    },
  };
}

function figures(title: string, times: readonly number[], delay: number): void {
  const at = (part: number) => times[Math.min(times.length - 1, Math.floor(times.length * part))]!;
  console.log(
    `${title}: ${times.length} answers, median ${at(0.5).toFixed(1)} ms, ` +
      `99 % ${at(0.99).toFixed(0)} ms, worst ${times.at(-1)!.toFixed(0)} ms; ` +
      `the machine itself ${delay.toFixed(0)} ms`,
  );
}

async function main([half = "400", idle = "300"]: readonly string[]): Promise<number> {
  await using web = await TestWeb.start();
  const before = web.memory();
  await web.ask("GET", "/api/v1/processes");
  let [client, machine] = [healthy(web), machineDelay()];
  const slow = [
    ...await opened(web, Number(half), HALF_OPEN),
    ...await opened(web, Number(idle), IDLE),
  ];
  // A client that connects now waits behind all of them.
  await web.raw(`GET /livez HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`);
  figures("While they connect", await client.stop(), machine.stop());
  [client, machine] = [healthy(web), machineDelay()];
  const since = performance.now();
  await Promise.all(
    slow.map((connection) => connection.readable.pipeTo(new WritableStream()).catch(() => {})),
  );
  const seconds = (performance.now() - since) / 1000;
  const [times, delay] = [await client.stop(), machine.stop()];
  figures("While they hang", times, delay);
  const grown = (web.memory() - before) / 1024 / 1024;
  console.log(`All closed after ${seconds.toFixed(1)} s; memory +${grown.toFixed(0)} MiB`);
  const isPrompt = times.at(-1)! - delay < 100;
  return isPrompt && seconds < 11 ? 0 : 1;
}

Deno.exit(await main(Deno.args));
