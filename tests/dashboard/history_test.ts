/** The past before the page was opened: health checks, hooks, jobs; and listening ports. */

import { assert, assertEquals } from "@std/assert";
import { waitFor } from "../support/wait_for.ts";
import { browserTest, calledBy, NO_WEBSOCKET, routeVerb } from "./browser.ts";

browserTest("health, hooks and jobs show their last results", async (dashboard) => {
  const { page, daemon } = dashboard;
  await daemon.startScript("sick", "sleep 1000", {
    health_check: { type: "command", command: "exit 7", interval: "500ms", retries: 1000 },
    hooks: {
      post_start: { command: "printf '<img onerror=alert(1)> \\033[31mhello\\033[0m'" },
      pre_stop: { command: "true" },
    },
  });
  await daemon.startScript("job", "exit 3", { cron: { schedule: "@daily" } });
  await daemon.startScript("plain", "sleep 1000");
  await daemon.client.call("cron_run", "job");
  await dashboard.signIn();
  await dashboard.go("#/processes/sick?tab=health");
  await page.getByText("0.0 % of").waitFor();
  await page.locator("table.history").getByText("✗ failed").first().waitFor();
  await dashboard.go("#/processes/sick?tab=hooks");
  await page.locator(".runs").getByText("<img onerror=alert(1)> hello").waitFor();
  assertEquals(await page.locator(".runs img").count(), 0);
  await page.getByText("has not run").waitFor();
  await dashboard.go("#/processes/plain?tab=hooks");
  await page.getByText("It has no hooks").waitFor();
  await dashboard.go("#/processes/plain?tab=health");
  await page.getByText("Nothing checks its health").waitFor();

  await dashboard.go("#/jobs");
  await page.getByRole("button", { name: "Last runs of job" }).click();
  await page.locator(".cron-history").getByText("✗ failed with exit code 3").waitFor();
  await waitFor(async () => await page.locator(".cron-history li").count() > 1);
  await dashboard.go("#/processes/job");
  await page.getByText("Next run").waitFor();

  // Older events stay in place when new ones arrive.
  const many = (from: number, to: number) => {
    const names = Array.from({ length: to - from }, (_, index) => `later-${from + index}`);
    const app = { entrypoint: "/bin/true", cron: "@yearly" };
    const processes = Object.fromEntries(names.map((name) => [name, app]));
    return daemon.client.call("start_all", { config: { processes } });
  };
  await many(0, 110);
  await dashboard.go("#/?q=later-&type=added");
  const events = page.locator(".events li");
  await waitFor(async () => await events.count() === 100);
  await page.getByRole("button", { name: "Older events" }).click();
  await waitFor(async () => await events.count() === 110);
  await many(110, 113);
  await waitFor(async () => await events.count() === 113);
});

browserTest(
  "ports show where a process listens, and its menu lists every action",
  async (dashboard) => {
    const { page, daemon } = dashboard;
    const program = "const l = Deno.listen({ hostname: '127.0.0.1', port: 0 });" +
      "console.log(String(l.addr.port)); await l.accept();";
    await daemon.client.call("start", {
      name: "listener",
      entrypoint: Deno.execPath(),
      args: ["eval", program],
      cwd: "/",
    });
    let port = "";
    await waitFor(async () =>
      (port = (await daemon.client.call("logs", { target: "listener" })).logs.trim()) !== ""
    );
    await dashboard.signIn();
    await dashboard.go("#/processes");
    const row = page.locator('[data-row="listener"]');
    await row.getByText(`:${port}`).waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press(".");
    const menu = page.getByRole("group", { name: "Actions on listener" });
    await menu.waitFor();
    await page.keyboard.press("End");
    assertEquals(await page.evaluate("document.activeElement.textContent"), "Delete…");
    await page.keyboard.press("Escape");
    await menu.waitFor({ state: "detached" });
    await row.getByRole("button", { name: "More actions" }).click();
    await menu.getByText("Scale…").click();
    await page.getByRole("spinbutton").fill("2");
    await page.getByRole("dialog").getByRole("button", { name: "Scale" }).click();
    await waitFor(async () => (await daemon.client.call("list")).length === 2);
  },
);

browserTest("without WebSockets the page polls", async (dashboard) => {
  const { page, daemon } = dashboard;
  await page.addInitScript(NO_WEBSOCKET);
  await dashboard.signIn();
  await daemon.startScript("late", "sleep 1000");
  await dashboard.go("#/processes");
  await page.locator('[data-row="late"]').getByText("running").waitFor();
  await page.getByText("No connection to the daemon").waitFor({ state: "detached" });
  await daemon.client.call("stop", { target: "late" });
  await dashboard.go("#/");
  await page.locator(".events").getByText("stopped").first().waitFor();
  // A log that has ended keeps its lines, and says why.
  await daemon.startScript("doomed", "echo farewell; exec sleep 1000");
  await dashboard.go("#/logs?t=doomed");
  const line = page.locator(".log-row").getByText("farewell");
  await line.waitFor();
  await daemon.client.call("delete", { target: "doomed" });
  await page.getByText("Deleted: these were its last lines").waitFor();
  assertEquals(await line.count(), 1);
});

browserTest("without WebSockets one poll is under way at a time", async (dashboard) => {
  const { page } = dashboard;
  await page.addInitScript(NO_WEBSOCKET);
  await page.clock.install();
  await dashboard.signIn();
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  let asked = 0;
  await routeVerb(page, "system_metrics", async (route) => {
    asked++;
    await held;
    await route.continue();
  });
  const askedMore = async (than: number) => {
    await page.clock.runFor(1000);
    return asked > than;
  };
  await waitFor(() => askedMore(0));
  await page.clock.runFor(8000);
  assertEquals(asked, 1);
  release();
  await waitFor(() => askedMore(1));
});

browserTest(
  "the timeline appears all at once, so that nothing moves under the pointer",
  async (dashboard) => {
    const { page, daemon } = dashboard;
    await daemon.startScript("web", "sleep 1000");
    await page.clock.install();
    await dashboard.signIn();
    await page.routeWebSocket("**/ws", () => {});
    await page.reload();
    // Without messages on its WebSocket it polls, after some seconds.
    await waitFor(async () => {
      await page.clock.runFor(1000);
      return await page.getByRole("heading", { name: "Needs attention" }).isVisible();
    });
    assertEquals(await page.locator(".lane-names li").count(), 1);
  },
  { ownDaemon: true },
);

browserTest("a lost request is repeated", async (dashboard) => {
  const { page } = dashboard;
  await page.clock.install();
  await dashboard.signIn();
  let asked = 0;
  await routeVerb(page, "webhook_list", (route) => asked++ > 0 && route.continue());
  await dashboard.go("#/settings/webhooks");
  await waitFor(() => asked === 1);
  await page.clock.runFor(31_000);
  await page.getByText("No webhooks yet").waitFor();
  // What is asked for only once, too.
  await dashboard.daemon.startScript("web", "exec sleep 1000");
  let failed = 0;
  await routeVerb(page, "events", (route, { type }) => {
    return type === "restarted" && failed++ === 0 ? route.abort() : route.continue();
  });
  await dashboard.go("#/");
  await waitFor(() => failed === 1);
  await page.clock.runFor(6000);
  await page.getByText("Restarts today: 0").waitFor();
});

browserTest("a hidden tab without WebSockets stays connected", async (dashboard) => {
  const { page, daemon } = dashboard;
  await page.addInitScript(NO_WEBSOCKET);
  await page.clock.install();
  await dashboard.signIn();
  await dashboard.go("#/processes");
  await page.evaluate("Object.defineProperty(document, 'hidden', { value: true, writable: true })");
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await page.clock.runFor(60_000);
  assertEquals(asked.filter((path) => path === "/api/v1/session"), []);
  await daemon.startScript("late", "sleep 1000");
  await page.evaluate("document.hidden = false");
  await page.locator('[data-row="late"]').getByText("running").waitFor();
});

browserTest(
  "events are shown while they come faster than answers, at one request a time",
  async (dashboard) => {
    const { page, daemon } = dashboard;
    const quick = { restart_delay: "100ms", backoff_max: "100ms", max_restarts: 10_000 };
    await daemon.startScript("restless", "exit 1", quick);
    let open = 0;
    let most = 0;
    let answers = 0;
    await page.route("**/ipc", async (route) => {
      const { action } = calledBy(route.request());
      if (action !== "list" && action !== "events") return route.continue();
      const isList = action === "list";
      if (isList) most = Math.max(most, ++open);
      await new Promise((resolve) => setTimeout(resolve, 500));
      if (isList) open--;
      else answers++;
      // The page may be closed by then.
      await route.continue().catch(() => {});
    });
    await dashboard.signIn();
    await dashboard.go("#/");
    await page.locator(".events li").first().waitFor();
    const shown = answers;
    await waitFor(() => answers > shown + 2, { what: "three more answers" });
    // The list itself comes by the WebSocket.
    assert(most <= 1, String(most));
    await page.unrouteAll({ behavior: "ignoreErrors" });
  },
);
