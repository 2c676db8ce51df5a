/** The log viewer beyond its loaded lines: older lines, several columns, context of a line. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { waitFor } from "../support/wait_for.ts";
import { browserTest, type Dashboard, NO_WEBSOCKET, routeVerb } from "./browser.ts";

const OLD = `echo 'the NEEDLE of old'; seq 1 3000 | sed 's/^/line /'; ` +
  `printf '9 %%\\r100 %% done\\n'; printf 'Error: boom\\n    at a (x.js:1)\\n    at b (y.js:2)\\n'; ` +
  `echo '{"level":"info","msg":"paid","order":77}'; ` +
  `printf 'long %0106000d\n' 1; exec sleep 1000`;

browserTest("older lines are searched on the server, and shown in context", async (dashboard) => {
  const { page, daemon } = dashboard;
  await daemon.startScript("old", OLD);
  await dashboard.signIn();
  await dashboard.go("#/logs?t=old");
  const log = page.getByRole("log");
  await log.getByText("INFO  paid order=77").waitFor();
  await log.getByText("100 % done", { exact: true }).waitFor();
  const rows = page.locator(".log-row");
  await rows.filter({ hasText: "Error: boom" }).click();
  await page.locator(".line-details").getByText("at b (y.js:2)").waitFor();
  assertEquals(await log.getByText("at b (y.js:2)").count(), 0);
  await page.keyboard.press("Escape");
  await page.keyboard.press("v");
  await log.getByText('"order":77').waitFor();
  await log.getByText("at b (y.js:2)").waitFor();
  await page.keyboard.press("v");
  await log.getByText("at b (y.js:2)").waitFor({ state: "detached" });
  // No count of other lines is shown while those of a level are counted, which may take long.
  const counts = page.getByRole("img", { name: /^Lines over time: .* [1-9][0-9,]* other lines/ });
  await counts.waitFor();
  await routeVerb(page, "log_counts", (route, { level }) => level !== "error" && route.continue());
  await page.keyboard.press("e");
  await counts.waitFor({ state: "detached" });
  await page.keyboard.press("e");
  await counts.waitFor();
  // A long line is sent as its beginning, and read by its position when it is wanted.
  await log.getByText(/^long .* … 104 KB$/).click();
  assertEquals((await page.locator(".line-details pre").textContent())!.length, 8192);
  await page.getByRole("button", { name: "Show 104 KB" }).click();
  await page.locator(".line-details pre").getByText(/01$/).waitFor();
  await page.keyboard.press("Escape");

  await page.getByRole("button", { name: "Group similar lines" }).click();
  const group = page.getByRole("row", { name: "Error: boom" });
  await group.getByText("×1").waitFor();
  await group.getByRole("link", { name: "old" }).waitFor();
  await group.getByRole("button", { name: "Error: boom" }).click();
  await page.getByText("1 line in the time shown").waitFor();
  await dashboard.go("#/logs?t=old");
  await page.getByLabel("Search the lines").fill("needle");
  await log.getByText("the NEEDLE of old").waitFor();
  assertEquals(await page.locator(".log-row").count(), 1);
  await page.getByText("1 line in the time shown").waitFor();
  await page.getByRole("button", { name: "Keep the other lines" }).click();
  await page.locator(".match-count").getByText("0", { exact: true }).waitFor();
  await log.getByText("paid order=77").waitFor();
  await page.getByRole("button", { name: "Keep the other lines" }).click();
  await page.getByLabel("Search the lines").fill("line");
  await page.getByText("500 of 3,000 lines in the time shown").waitFor();
  await page.getByLabel("Search the lines").fill("absent");
  await page.getByText("No line of this time passes the filter").waitFor();
  await page.getByLabel("Search the lines").fill("needle");
  await page.locator(".log-row").click();
  await page.getByRole("link", { name: "Show in context" }).click();
  await page.locator(".log-row.is-cursor").getByText("the NEEDLE of old").waitFor();
  await log.getByText("line 3", { exact: true }).waitFor();

  await dashboard.go("#/logs?t=old");
  await page.getByRole("button", { name: "Now" }).click();
  await log.getByText("paid order=77").click();
  await page.locator(".fields").getByRole("button", { name: "order" }).click();
  await waitFor(async () => await page.locator(".log-row").count() === 1);
  assert(page.url().includes("re=1"));
});

browserTest(
  "logs can be shown side by side, with times, text sizes and files of choice",
  async (dashboard) => {
    const { page, daemon } = dashboard;
    await daemon.startScript("left", "printf 'from \\033[31mleft\\033[0m\\n'; exec sleep 1000");
    await daemon.startScript("right", "echo from right; exec sleep 1000");
    await dashboard.signIn();
    await dashboard.go("#/logs?t=left&t=right");
    await page.getByRole("log").getByText("from right").waitFor();
    await page.getByRole("button", { name: "Side by side" }).click();
    const column = (name: string) => page.getByRole("region", { name });
    await column("left").getByText("from left").waitFor();
    await column("right").getByText("from right").waitFor();
    assertEquals(await column("left").getByText("from right").count(), 0);
    const widths = await page.locator(".log-column").evaluateAll((all) =>
      all.map((one: { getBoundingClientRect(): { width: number } }) =>
        one.getBoundingClientRect().width
      )
    );
    assertEquals(widths.length, 2);
    assert(Math.abs(widths[0]! - widths[1]!) < 2, String(widths));

    const more = page.getByLabel("More log options");
    await more.click();
    await page.getByRole("button", { name: "How long ago" }).click();
    await page.locator(".log-time").getByText(/now|ago/).first().waitFor();
    await page.getByRole("button", { name: "Text: medium" }).click();
    await page.getByRole("button", { name: "Text: large" }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download all, as written" }).click(),
    ]);
    const text = await Deno.readTextFile((await download.path())!);
    assert(text.includes("left from \x1b[31mleft\x1b[0m\n"), text);
    assert(text.includes("right from right\n"), text);

    await daemon.startScript("twin", "seq 1 300; exec sleep 1000", { instances: 2 });
    await page.keyboard.press("f");
    await page.getByRole("button", { name: "Follow (f)", pressed: false }).waitFor();
    await dashboard.go("#/logs?t=twin");
    await waitFor(async () =>
      (await page.locator(".log-row").last().textContent())?.endsWith("300") === true
    );
    assertMatch((await page.locator(".log-name").first().textContent())!, /^twin:[01]$/);
  },
);

browserTest(
  "a log with a selected line is followed while its oldest lines are dropped",
  async (dashboard) => {
    const { page, daemon } = dashboard;
    // The page keeps 50,000 lines.
    await page.route(/app\.js/, async (route) => {
      const response = await route.fetch();
      const text = await response.text();
      assert(text.includes("5e4"));
      await route.fulfill({ response, body: text.replace("5e4", "1000") });
    });
    const go = `${daemon.home}/go`;
    const lines = (to: number) =>
      `i=0; while [ $i -lt ${to} ]; do i=$((i+1)); echo "line $i"; done`;
    const gate = `until [ -e ${go} ]; do sleep 0.1; done`;
    await daemon.startScript(
      "busy",
      `${lines(900)}; ${gate}; ${lines(400)}; echo end; exec sleep 1000`,
    );
    await dashboard.signIn();
    await dashboard.go("#/logs?t=busy");
    const log = page.getByRole("log");
    await log.getByText("line 890", { exact: true }).click();
    await page.getByRole("button", { name: "Follow ↓" }).click();
    Deno.writeTextFileSync(go, "");
    await log.getByText("end", { exact: true }).waitFor();
    // The dropped lines are older ones again, while there is room for them.
    await page.getByRole("button", { name: "Older lines" }).waitFor();
  },
);

/** Adds the positions of a thousand other logs, which are longer than a message may be. */
const MANY_LOGS = `{
  const others = Object.fromEntries(
    Array.from({ length: 1000 }, (_, index) => ["x".repeat(100) + index + "/stdout", 0]),
  );
  const parse = JSON.parse;
  JSON.parse = (...given) => {
    const value = parse(...given);
    const isStart = value?.type === "log_start" && Object.keys(value.before).length > 0;
    return isStart ? { ...value, before: { ...value.before, ...others } } : value;
  };
}`;

for (
  const [how, script, isByRequest] of [
    ["a WebSocket", "", false],
    ["a request, without WebSockets", NO_WEBSOCKET, true],
    ["a request, if its positions are long", MANY_LOGS, true],
  ] as const
) {
  browserTest(
    `older and new lines of a log continue without a hole by ${how}`,
    async (dashboard) => {
      const { page } = dashboard;
      await page.addInitScript(script);
      let requests = 0;
      page.on("request", (request) => {
        if (request.method() === "POST" && request.url().includes("/api/v1/logs?")) requests++;
      });
      await assertNoHole(dashboard);
      assertEquals(requests > 0, isByRequest);
    },
  );
}

async function assertNoHole(dashboard: Dashboard): Promise<void> {
  const { page, daemon } = dashboard;
  const script = "seq 3000 | sed s/^/n/; i=3000; " +
    "while :; do i=$((i+1)); echo n$i; [ $((i%20)) = 0 ] && sleep 0.1; done";
  await daemon.startScript("counter", script);
  // More than the page loads at once.
  const written = async () => (await daemon.client.call("logs", { target: "counter" })).logs;
  await waitFor(async () => /^n[3-9]\d{3}$/m.test(await written()));
  const sockets: { isClosed(): boolean }[] = [];
  page.on("websocket", (socket) => sockets.push(socket));
  await dashboard.signIn();
  await dashboard.go("#/processes/counter?tab=logs");
  await page.locator(".log-row").first().waitFor();
  // Several pages of older lines. It may have many more at the next look.
  await page.locator(".log-status").getByText(/^\d{1,3},\d{3} lines/).waitFor();
  const older = page.getByRole("button", { name: "Older lines" });
  await waitFor(async () => {
    if (await older.isVisible()) await older.click({ timeout: 1000 }).catch(() => {});
    else return true;
  });
  const download = page.waitForEvent("download");
  await page.getByLabel("More log options").click();
  await page.getByRole("button", { name: "Download the lines shown" }).click();
  const text = await Deno.readTextFile(await (await download).path());
  const lines = text.trimEnd().split("\n");
  assertEquals(lines.findIndex((line, index) => line !== `n${index + 1}`), -1);
  assertEquals(sockets.some((socket) => socket.isClosed()), false);
}

browserTest("a log that ends with an error shows it", async (dashboard) => {
  const { page, daemon } = dashboard;
  await page.addInitScript(NO_WEBSOCKET);
  await daemon.startScript("app", "echo one; sleep 1000");
  await dashboard.signIn();
  await dashboard.go("#/processes/app?tab=logs");
  await page.locator(".log-row").getByText("one", { exact: true }).waitFor();
  const line = { name: "app", stream: "stdout", line: "two", at: new Date().toISOString() };
  const failure = { error: "The search took too long", code: "timeout" };
  const body = [line, failure].map((item) => `${JSON.stringify(item)}\n`).join("");
  await page.route("**/api/v1/logs?*", (route) => route.fulfill({ body }));
  await page.getByLabel("More log options").click();
  await page.getByRole("button", { name: "Download all, as written" }).click();
  await page.locator(".toast", { hasText: "The download failed" }).getByText(failure.error)
    .waitFor();
  await page.keyboard.press("e");
  await page.locator(".log-row").getByText("two", { exact: true }).waitFor();
  await page.locator(".log-status").getByText(failure.error).waitFor();
});
