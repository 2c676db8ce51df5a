/** Large amounts of data: the page stays responsive. */

import { assert, assertEquals } from "@std/assert";
import type { Locator } from "playwright-core";
import { waitFor } from "../support/wait_for.ts";
import { browserTest } from "./browser.ts";
import { cpuOf, type CpuTime } from "./cpu_trace.ts";
import { fixtureServer } from "./fixture_server.ts";

const LINES = 300_000;
/** So much work takes time on few cores. */
const PATIENCE = { timeout: 120_000 };

/**
 * Ten times the duration on an idle processor; a shared one takes three to four times as long, even
 * in CPU time. The faults that this test finds take seconds.
 */
const FREEZE_MS = 300;

/** Fails if the page was blocked too long, and prints for how long. */
function assertQuick(what: string, { longest, total }: CpuTime, most: number): void {
  // deno-lint-ignore no-console
  console.log(`${what}: longest task ${longest | 0} ms, all ${total | 0} ms`);
  assert(longest > 0, `${what}: nothing was measured`);
  assert(longest < most, `${what}: a task took ${longest} ms`);
}

browserTest(
  "a log of 300,000 lines is followed, scrolls and is searched without long tasks",
  async (dashboard) => {
    const { page, daemon } = dashboard;
    const go = `${daemon.home}/go`;
    const gate = `until [ -e ${go} ]; do sleep 0.1; done`;
    await daemon.startScript(
      "huge",
      `echo begun; ${gate}; seq 1 ${LINES} | sed 's/$/ the quick brown fox/'; exec sleep 1000`,
      { log: { max_size: "1GB" } },
    );
    await dashboard.signIn();
    await dashboard.go("#/logs?t=huge");
    await page.getByRole("log").getByText("begun").waitFor(PATIENCE);
    const loading = await cpuOf(page, async () => {
      Deno.writeTextFileSync(go, "");
      await page.getByText(`${LINES} the quick`).waitFor(PATIENCE);
    });
    assertQuick("following", loading, FREEZE_MS);
    const scrolling = await cpuOf(page, async () => {
      for (const part of [0, 0.3, 0.9, 0.5]) {
        await page.evaluate(
          `document.querySelector(".log-list").scrollTop = ${part} * document.querySelector(".log-list").scrollHeight`,
        );
        await waitFor(async () => await page.locator(".log-row").count() > 10);
      }
    });
    assertQuick("scrolling", scrolling, FREEZE_MS);
    await page.getByRole("button", { name: "Keep the other lines" }).click();
    const searching = await cpuOf(page, async () => {
      await page.getByLabel("Search the lines").fill("99999 the");
      await page.locator(".match-count").getByText("1", { exact: true }).waitFor(PATIENCE);
      await page.getByRole("button", { name: "Next match (n)" }).click();
      await page.locator(".log-row.is-cursor").getByText("99999 the").waitFor();
    });
    assertQuick("searching", searching, FREEZE_MS);
  },
);

browserTest("500 processes are painted at once, and stay responsive", async ({ page }) => {
  await using server = fixtureServer(500);
  const [first, last] = ["app-0:0", "app-124:3"].map((name) =>
    page.locator(`[data-row="${name}"]`)
  ) as [Locator, Locator];
  const painting = await cpuOf(page, async () => {
    await page.goto(`${server.origin}/#/processes`, PATIENCE);
    await first.waitFor(PATIENCE);
  });
  // Only the rows in view have elements; the last one comes by scrolling, below the same head.
  const nodes = await page.evaluate("document.querySelectorAll('*').length") as number;
  assert(nodes < 3000, `${nodes} elements`);
  await page.evaluate("document.querySelector('.windowed').scrollTop = 1e6");
  await last.waitFor(PATIENCE);
  await first.waitFor({ state: "detached", ...PATIENCE });
  const topOf = async (selector: string) => (await page.locator(selector).boundingBox())!.y;
  assert(await topOf(".processes thead") - await topOf(".windowed") < 2, "the head scrolled away");
  // Including pushes that arrive meanwhile.
  assert(painting.total < 6000, `painting took ${painting.total} ms`);
  assertQuick("painting", painting, 1500);
  const updating = await cpuOf(page, async () => {
    const figure = await last.locator(".measure .number").first().textContent();
    // Each push has different numbers.
    for (let before = figure, changes = 0; changes < 3; changes++) {
      await waitFor(async () =>
        before !== (before = await last.locator(".measure .number").first().textContent())
      );
    }
  });
  assertQuick("updating", updating, 600);
  const searching = await cpuOf(page, async () => {
    await page.getByLabel("Search processes").fill("app-77:2");
    await last.waitFor({ state: "detached", ...PATIENCE });
  });
  assertQuick("searching", searching, 1200);

  await page.getByLabel("Search processes").fill("app-1");
  await page.getByLabel("Group by").selectOption("app");
  await page.locator("tr.group").first().waitFor(PATIENCE);
  const groups = await page.locator("tr.group th a").allTextContents();
  assertEquals(groups.slice(0, 3), ["app-1", "app-10", "app-11"]);
  await page.getByRole("link", { name: "Timeline", exact: true }).click();
  await page.getByRole("link", { name: "and 2 more" }).click();
  await page.getByRole("columnheader", { name: "State", exact: true }).waitFor(PATIENCE);
});
