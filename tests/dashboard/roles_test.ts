/** The actions that the dashboard offers to each role: none that the daemon would reject. */

import { assertEquals } from "@std/assert";
import { browserTest, type Dashboard, isLive } from "./browser.ts";

/** The actions on each screen, by accessible name. */
async function offered({ page }: Dashboard): Promise<string[]> {
  return await page.evaluate(
    `[...document.querySelectorAll("main button, main a.button, .side nav a")]
    .map((element) => element.getAttribute("aria-label") ?? element.textContent.trim())`,
  );
}

async function offers(dashboard: Dashboard, hash: string, ready: string): Promise<Set<string>> {
  await dashboard.go(hash);
  await dashboard.page.locator(ready).first().waitFor();
  return new Set(await offered(dashboard));
}

const STARTING = ["Start", "Apply"];
const OPERATING = ["Stop app", "Restart app", "More actions on app"];

browserTest("each role sees only actions that it may perform", async (dashboard) => {
  const { page, daemon } = dashboard;
  await daemon.startScript("app", "sleep 1000", { tty: true });
  await daemon.startScript("job", "true", { cron: { schedule: "@daily" } });
  const origin = await dashboard.listen();
  for (const role of ["read", "operate", "admin"] as const) {
    await dashboard.signInAs(role, origin);
    const list = await offers(dashboard, "#/processes", '[data-row="app"]');
    const has = (names: readonly string[]) => names.map((name) => list.has(name));
    const mayOperate = role !== "read";
    assertEquals(has(OPERATING), OPERATING.map(() => mayOperate), role);
    assertEquals(has(STARTING), STARTING.map(() => role === "admin"), role);
    assertEquals(list.has("Logs of app"), true, role);

    const one = await offers(dashboard, "#/processes/app", ".why");
    assertEquals([one.has("Stop"), one.has("Restart"), one.has("Reload")], [
      mayOperate,
      mayOperate,
      mayOperate,
    ], role);
    assertEquals(one.has("terminal"), mayOperate, role);
    await page.keyboard.press(".");
    const menu = page.getByRole("group", { name: "Actions on app" });
    if (mayOperate) {
      await menu.waitFor();
      assertEquals(await menu.getByText("Delete…").count(), role === "admin" ? 1 : 0, role);
      await page.keyboard.press("Escape");
      await menu.waitFor({ state: "detached" });
    } else assertEquals(await menu.count(), 0);

    const cron = await offers(dashboard, "#/jobs", "table.cron");
    assertEquals(cron.has("Run now"), mayOperate, role);
    assertEquals(await page.getByRole("switch").isDisabled(), !mayOperate, role);

    const host = await offers(dashboard, "#/settings", ".facts");
    assertEquals([host.has("Save list"), host.has("Resurrect")], [mayOperate, role === "admin"]);
    const config = await offers(dashboard, "#/processes/app?tab=config", ".config");
    for (const name of ["Compare with the file", "Change…"]) {
      assertEquals(config.has(name), role === "admin", role);
    }
    for (const hash of ["#/start", "#/apply", "#/settings/machines"]) {
      await dashboard.go(hash);
      await page.locator("main h1, main .empty").first().waitFor();
      assertEquals(await page.getByText("Not allowed").count(), role === "admin" ? 0 : 1, role);
    }
    // Before the first answer the role is not known.
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    await page.route("**/api/v1/session", async (route) => (await held, await route.continue()));
    await dashboard.go("#/apply");
    await page.reload();
    await page.locator("main .spinner").waitFor();
    assertEquals(await page.getByText("Not allowed").count(), 0, role);
    release();
    await isLive(page);
    await page.unrouteAll();
    // Shortcuts must not do more than the buttons.
    if (mayOperate) continue;
    await dashboard.go("#/processes/app");
    await page.locator(".why").waitFor();
    for (const key of ["S", "r", "s", "R"]) await page.keyboard.press(key);
    assertEquals(await page.getByRole("dialog").count(), 0);
    assertEquals(await page.locator(".toast").count(), 0);
  }
});

browserTest("a revoked token signs its browser out", async (dashboard) => {
  const { page, daemon } = dashboard;
  await dashboard.signInAs("read", await dashboard.listen());
  await page.getByText("Read only: a-read").waitFor();
  await daemon.client.call("token_revoke", { name: "a-read" });
  await page.reload();
  await page.getByRole("heading", { name: "Sign in to procsup" }).waitFor();
});
