// deno-lint-ignore-file no-console
/**
 * How long it takes until 500 processes are on the screen of a browser. The goal is a second, on a machine
 * that has nothing else to do.
 *
 * `deno run -A scripts/bench/dashboard.ts`
 */

import { Dashboard } from "../../tests/dashboard/browser.ts";
import { fixtureServer } from "../../tests/dashboard/fixture_server.ts";

/** Milliseconds since the page was asked for. */
const LAST_PAINTED = `new Promise((done) => {
  const look = () => document.querySelector('[data-row="app-124:3"]')
    ? requestAnimationFrame(() => done(performance.now()))
    : requestAnimationFrame(look);
  look();
})`;
const FIRST_PAINT =
  "performance.getEntriesByName('first-contentful-paint').map((entry) => entry.startTime)[0]";

const dashboard = await Dashboard.open();
const server = fixtureServer(500);
for (let round = 0; round < 5; round++) {
  const { page } = dashboard;
  await page.goto("about:blank");
  await page.goto(`${server.origin}/#/processes`, { waitUntil: "commit" });
  const all = await page.evaluate(LAST_PAINTED) as number;
  const first = await page.evaluate(FIRST_PAINT) as number;
  console.log(`first paint ${first | 0} ms, all 500 processes ${all | 0} ms`);
}
await server[Symbol.asyncDispose]();
await dashboard[Symbol.asyncDispose]();
// The browser itself is there for all tests of a file.
Deno.exit(0);
