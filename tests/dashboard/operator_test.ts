/** The dashboard during an incident: it shows the current state, and stays responsive. */

import { assert, assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import { waitFor } from "../support/wait_for.ts";
import { browserTest, calledBy, type Dashboard } from "./browser.ts";

const STUCK = { depends_on: { sick: "healthy" } };

async function setUp({ daemon }: Dashboard): Promise<void> {
  await daemon.startScript("sick", "exec sleep 1000", {
    health_check: {
      ...{ type: "command", command: "exit 7", interval: "500ms", retries: 1 },
      on_failure: "none",
    },
  });
  await daemon.startScript("stuck", "exec sleep 1000", STUCK);
  await daemon.startScript("pair", "exec sleep 1000", { instances: 2 });
  await daemon.startScript("wordy", "seq -s ' word ' 1 900 >&2; exit 3", {
    restart_policy: "never",
  });
}

browserTest("a process is shown in its current state", async (dashboard) => {
  const { page } = dashboard;
  await setUp(dashboard);
  await dashboard.signIn();
  await dashboard.go("#/processes");
  const stuck = page.locator('[data-row="stuck"]');
  await stuck.getByText("for sick").waitFor();

  await dashboard.go("#/processes/pair:0");
  const why = page.locator(".why");
  const first = await why.textContent();
  assert(/up for/.test(first ?? ""), String(first));
  await waitFor(async () => await why.textContent() !== first, { what: "another uptime" });

  await dashboard.go("#/processes/wordy");
  const words = page.locator(".stderr");
  await words.waitFor();
  const left = (element: { scrollHeight: number; scrollTop: number; clientHeight: number }) =>
    element.scrollHeight - element.scrollTop - element.clientHeight;
  await waitFor(async () => await words.evaluate(left) < 2, { what: "the last words in sight" });
  assert(await words.evaluate((element: { scrollTop: number }) => element.scrollTop) > 0);

  await dashboard.go("#/processes/pair");
  await page.getByText("2 instances").waitFor();
  await dashboard.daemon.client.call("reconfigure", {
    ...{ target: "pair", rollback_on_failure: true },
    // Hooks alone are read at the time of use.
    config: {
      env: { RELEASE: "2" },
      hooks: { pre_start: { command: "echo no database >&2; exit 9" } },
    },
  });
  const release = page.getByRole("region", { name: "Last release" });
  await release.getByText(/rolled back after \d/).waitFor();
  await release.getByText(/^pair:0: .*code 9/).waitFor();
  await page.getByRole("link", { name: "pair:1", exact: true }).click();
  await page.getByRole("heading", { name: "pair:1" }).waitFor();

  await dashboard.go("#/processes?view=graph");
  await page.locator(".edge").waitFor({ state: "attached" });
  assertEquals(await page.locator(".edge.met").count(), 0);
  await page.getByText("2 other apps without dependencies").waitFor();
  await page.getByRole("link", { name: /^stuck/ }).click();
  await page.getByRole("heading", { name: "stuck", exact: true }).waitFor();

  await dashboard.go("#/");
  await page.getByRole("link", { name: "its health checks fail" }).click();
  await page.locator("table.history").waitFor();

  await dashboard.go("#/processes/pair");
  await page.getByRole("button", { name: "More actions", exact: true }).click();
  await page.getByRole("group", { name: "Actions on pair" }).getByText("Delete…").click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("Deleted pair").first().waitFor();
  await stuck.waitFor();
  await page.locator('[data-row^="pair"]').first().waitFor({ state: "detached" });

  // The list keeps its filter when one of its processes is deleted.
  await dashboard.go("#/processes?q=wor");
  await page.getByRole("button", { name: "More actions on wordy" }).click();
  await page.getByRole("group", { name: "Actions on wordy" }).getByText("Delete…").click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("Deleted wordy").first().waitFor();
  await page.getByText("Nothing matches").waitFor();
  assertEquals(new URL(page.url()).hash, "#/processes?q=wor");
});

const FOUR_MINUTES_BEHIND = `globalThis.Date = class extends Date {
  constructor(...given) { given.length ? super(...given) : super(Date.now()); }
  static now() { return super.now() - 240_000; }
}`;

browserTest("ages are right in a browser with a wrong clock", async (dashboard) => {
  const { page, daemon } = dashboard;
  await daemon.startScript("app", "exec sleep 1000");
  await page.addInitScript(FOUR_MINUTES_BEHIND);
  await dashboard.signIn();
  await dashboard.go("#/processes/app");
  const up = page.locator(".facts > div").filter({ hasText: /^Up/ }).locator("dd");
  await waitFor(async () => /^\d+s$/.test(await up.innerText()), { what: "its uptime" });
});

browserTest("actions are within reach at any width, and happen once", async (dashboard) => {
  const { page, daemon } = dashboard;
  await setUp(dashboard);
  await dashboard.signIn();
  await dashboard.go("#/processes");
  for (const width of [1200, 1024, 862, 768, 640, 390, 320]) {
    await page.setViewportSize({ width, height: 900 });
    const more = page.getByRole("button", { name: "More actions on stuck" });
    await more.waitFor();
    const frame = (await page.locator(".table-frame").boundingBox())!;
    const button = (await more.boundingBox())!;
    assert(button.x + button.width <= frame.x + frame.width, `${width}: ${JSON.stringify(button)}`);
    assert(frame.x + frame.width <= width, `${width}: ${JSON.stringify(frame)}`);
    const { height } = (await page.locator('[data-row="pair:0"]').boundingBox())!;
    assert(height < 90, `${width}: a row is ${height} px high`);
  }
  let requests = 0;
  page.on("request", (request) => requests += Number(calledBy(request).action === "restart"));
  await daemon.startScript("needy", "exec sleep 1000", { depends_on: { sick: "started" } });
  await page.locator('[data-row="needy"]').getByText("running").waitFor();
  await dashboard.go("#/processes/sick");
  await page.getByRole("button", { name: "Reload" }).click();
  await page.getByText("Others depend on it: needy.").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();

  await dashboard.go("#/processes/stuck");
  const restart = page.getByRole("button", { name: "Restart" });
  // It is not running, so there is nothing to interrupt and no confirmation.
  await restart.click();
  await page.getByText("Restarting stuck…").waitFor();
  await page.getByRole("button", { name: "Dismiss" }).click();
  await page.getByText("Restarting stuck…").waitFor({ state: "detached" });
  await restart.click();
  await page.getByText("Restarting stuck…").waitFor();
  assertEquals(requests, 1);
  // On a small screen it covers the rows below.
  await page.getByRole("button", { name: "Dismiss" }).click();

  const hooks = { pre_start: "exit 5" };
  await daemon.startScript("broken", "exec sleep 1000", { autostart: false, hooks });
  await dashboard.go("#/processes");
  await page.locator('[data-row="broken"]').waitFor();
  await page.getByRole("button", { name: "More actions on broken" }).click();
  await page.getByRole("group", { name: "Actions on broken" }).getByText("Restart").click();
  await page.getByRole("button", { name: "Why" }).click();
  await page.getByRole("heading", { name: "broken" }).waitFor();
});

browserTest("a signed-out user continues at the same place after signing in", async (dashboard) => {
  const { page, daemon } = dashboard;
  const origin = await dashboard.listen();
  await dashboard.signInAs("read", origin);
  await page.getByRole("heading", { name: "Nothing is running yet" }).waitFor();
  assertEquals(await page.getByText("New process").count(), 0);
  await daemon.startScript("app", "exec sleep 1000");
  await dashboard.go("#/processes/app?tab=health");
  await page.getByText("Nothing checks its health").waitFor();
  const other = await page.context().newPage();
  await other.goto(page.url());
  await other.getByText("Nothing checks its health").waitFor();

  await daemon.client.call("token_revoke", { name: "a-read" });
  const ended = (one: Page) => one.getByText("Your session has ended");
  await Promise.all([page, other].map((one) => ended(one).waitFor()));
  const { token } = await daemon.client.call("token_create", { name: "next", role: "read" });
  await page.getByLabel("paste a link").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("Nothing checks its health").waitFor();
  await other.evaluate("dispatchEvent(new Event('focus'))");
  await other.getByText("Nothing checks its health").waitFor();
});

browserTest("seven open log views block no tab", async (dashboard) => {
  const { page, daemon } = dashboard;
  await daemon.startScript("app", "echo hello; exec sleep 1000");
  await dashboard.signIn();
  const address = new URL("/#/logs?t=app", page.url()).href;
  // One more than a browser's connections per host.
  const tabs = await Promise.all(Array.from({ length: 7 }, () => page.context().newPage()));
  for (const tab of tabs) {
    await tab.goto(address);
    await tab.getByRole("log").getByText("hello").waitFor();
  }
  assertEquals(await page.evaluate("fetch('/livez').then((answer) => answer.text())"), "ok\n");
  await Promise.all(tabs.map((tab) => tab.close()));
});

browserTest(
  "a configuration is changed by a form, with its plan and its release",
  async (dashboard) => {
    const { page, daemon } = dashboard;
    const env = { KEPT: "1", GONE: "2" };
    await daemon.startScript("app", "exec sleep 1000", {
      ...{ instances: 2, env, max_memory: "64MB", priority: 3, tags: ["x"] },
    });
    await dashboard.signIn();
    await dashboard.go("#/processes/app:0?tab=config");
    await page.getByRole("button", { name: "Change…" }).click();
    const form = page.getByRole("form", { name: "Change app" });
    const field = (path: string) => form.locator(`[id="field-${path}"]`);
    assertEquals(await field("env").inputValue(), "KEPT=***\nGONE=***");
    const show = form.getByRole("button", { name: "Show the plan" });
    await field("max_memory").fill("many");
    await show.click();
    await form.getByRole("alert").getByText("max_memory").waitFor();
    await field("max_memory").fill("1GB");
    await field("env").fill("KEPT=***\nNEW=3");
    assert((await field("more").inputValue()).includes("priority: 3"));
    await field("more").fill("priority: 3");
    await show.click();
    const plan = page.locator("section.panel", { hasText: "Its runs are replaced" });
    await plan.getByText("env.GONE", { exact: true }).waitFor();
    await plan.getByText("1GB", { exact: true }).waitFor();
    assertEquals((await daemon.status("app:1")).config.max_memory, "64MB", "nothing has changed");
    await plan.getByRole("button", { name: "Release, undo if it fails" }).click();
    await page.getByText("✓ done in").waitFor();
    await page.getByText("env.GONE, env.NEW, tags, max_memory", { exact: true }).waitFor();
    const { config } = await daemon.status("app:1");
    assertEquals([config.max_memory, Object.keys(config.env as object)], ["1GB", ["KEPT", "NEW"]]);
  },
);
