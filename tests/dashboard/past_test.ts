/**
 * The past: from an alert to the log and the resource usage of that time, and other events then.
 */

import { assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import {
  encodeHeader,
  encodeSlot,
  FINE,
  slotPosition,
  slotStart,
} from "../../src/daemon/metrics_ring.ts";
import { HOST } from "../../src/model/name.ts";
import { pathsIn } from "../../src/platform/files/paths.ts";
import { Receiver } from "../support/receiver.ts";
import { waitFor } from "../support/wait_for.ts";
import { bringAxe, findings } from "./axe.ts";
import { browserTest, type Dashboard } from "./browser.ts";

const SEVERE = ["serious", "critical"];

/** An app that fails once `go` exists, with some log lines around. */
const FAILING = `seq 1 50 | sed 's/^/before /'; while [ ! -e go ]; do sleep 0.05; done; ` +
  `echo 'TypeError: boom at 03:12' >&2; exit 3`;

/** Invented metrics: half an hour with 77 % CPU and 30 MB, more than the app can have used. */
function measureBefore(home: string, name: string): void {
  const folder = pathsIn(home).metrics;
  Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
  using file = Deno.openSync(`${folder}/${name}.ring`, { write: true, create: true });
  file.writeSync(encodeHeader());
  const end = slotStart(FINE, Date.now());
  const known = { cpu: 77, cpuMax: 77, memory: 30 * 1024 ** 2, memoryMax: 30 * 1024 ** 2 };
  const more = { threads: 1, fds: 3, restarts: 0, uptime: 1, load: NaN };
  for (let at = end - 1_800_000; at <= end; at += FINE.step) {
    const isDown = at > end - 800_000 && at < end - 700_000;
    const sample = { ...known, ...more, up: isDown ? 0.5 : 1, health: isDown ? 0 : 1 };
    const isGap = at > end - 600_000 && at < end - 300_000;
    if (isGap) continue;
    file.seekSync(slotPosition(FINE, at), Deno.SeekMode.Start);
    file.writeSync(encodeSlot({ at, sample }));
  }
}

async function setUp({ daemon }: Dashboard, receiver: Receiver): Promise<string> {
  const script = (text: string) => ["-c", text];
  const app = { entrypoint: "/bin/sh", cwd: daemon.home };
  const config = {
    webhooks: { ops: { url: receiver.url, events: ["crash", "errored"] } },
    processes: {
      api: { ...app, args: script(FAILING), restart_policy: "never" },
      pair: { ...app, args: script("echo from $$; exec sleep 1000"), instances: 2 },
      nightly: { ...app, args: script("echo the nightly line; exit 3"), cron: "@daily" },
    },
  };
  measureBefore(daemon.home, "api");
  measureBefore(daemon.home, HOST);
  await daemon.client.call("start_all", { config });
  await daemon.client.call("cron_run", "nightly");
  Deno.writeTextFileSync(`${daemon.home}/go`, "");
  await waitFor(() => receiver.got.some(({ body }) => body.data.process?.name === "api"));
  return receiver.got.find(({ body }) => body.data.process.name === "api")!.body.data.link;
}

/** From a webhook's link to the chart and the log line of that time, in two clicks. */
async function alertToLine({ page }: Dashboard, link: string): Promise<void> {
  await page.goto(link);
  const chart = page.locator("figure").filter({ hasText: "Memory" });
  await chart.getByText("30.0 MB").first().waitFor();
  await chart.locator(".moment").waitFor({ state: "attached" });
  await isAccessible(page);
  await chart.locator(".mark.is-failure path").click();
  const line = page.locator(".log-row.is-cursor").getByText("TypeError: boom");
  await line.waitFor();
  // Nothing covers it.
  await line.click({ trial: true });
  await page.getByRole("img", { name: /^Lines over time: 1 error/ }).waitFor();
  await isAccessible(page);
}

async function isAccessible(page: Page): Promise<void> {
  const rules = page.viewportSize()!.width > 1024 ? "all" : "others";
  assertEquals((await findings(page, SEVERE, rules)).join("\n"), "");
}

async function drag(page: Page, name: RegExp, from: number, to: number): Promise<void> {
  const { x, y, width } = (await page.getByRole("img", { name }).first().boundingBox())!;
  await page.mouse.move(x + from * width, y + 30);
  await page.mouse.down();
  await page.mouse.move(x + to * width, y + 40, { steps: 3 });
  await page.mouse.up();
}

function paramOf(page: Page, name: string): string {
  return new URLSearchParams(page.url().split("?")[1]).get(name) ?? "";
}

browserTest(
  "a webhook's link leads to the log line and the chart of that time",
  async (dashboard) => {
    const { page } = dashboard;
    await using receiver = new Receiver();
    await dashboard.signIn();
    const link = await setUp(dashboard, receiver);
    const follows: string[] = [];
    page.on(
      "request",
      (request) => /follow=true/.test(request.url()) && follows.push(request.url()),
    );
    await bringAxe(page);
    for (const [width, height] of [[1440, 900], [1024, 768], [390, 844]] as const) {
      await page.setViewportSize({ width, height });
      await alertToLine(dashboard, link);
    }
    await page.setViewportSize({ width: 1280, height: 800 });

    // The next screen shows the same time; dragging zooms in, Back zooms out.
    await page.getByRole("tab", { name: "summary" }).click();
    await waitFor(() => paramOf(page, "from") !== "", { what: "the range in the address" });
    await page.getByText(/^Up \d\d\.\d\d % · healthy \d\d\.\d\d %/).waitFor();
    const cpu = page.getByRole("img", { name: /^CPU: .* highest 77/ });
    await cpu.waitFor();
    const [from, to] = [paramOf(page, "from"), paramOf(page, "to")];
    await drag(page, /^CPU/, 0.25, 0.5);
    await waitFor(() => paramOf(page, "from") > from && paramOf(page, "to") < to);
    await page.goBack();
    await waitFor(() => paramOf(page, "from") === from);
    await page.getByLabel("Time range").selectOption("1h");
    await waitFor(async () => /^M.+L.+M/.test(await cpu.locator(".line").getAttribute("d") ?? ""));

    // Events before the page was opened, filtered by type and text, each with a link to its log.
    await dashboard.go("#/");
    const events = page.locator(".events li");
    await events.filter({ hasText: "pair:1" }).first().waitFor();

    // The time without a daemon is a band. A drag over it shows what changed then, which is not the crash.
    const band = page.locator(".lanes .gap");
    const crash = page.locator(".changes li").filter({ hasText: /api.*crash/ });
    await page.getByRole("listitem").getByText(/^Daemon down \d\d:\d\d:\d\d–\d\d:\d\d:\d\d$/)
      .waitFor();
    await crash.waitFor();
    const { x, width } = (await band.boundingBox())!;
    const lanes = (await page.getByRole("img", { name: /apps over time/ }).boundingBox())!;
    const at = (px: number) => (px - lanes.x) / lanes.width;
    await drag(page, /apps over time/, at(x - 5), at(x + width + 5));
    await waitFor(() => paramOf(page, "from") !== "" && paramOf(page, "range") === "");
    await crash.waitFor({ state: "detached" });
    await waitFor(async () => (await band.boundingBox())!.width > lanes.width * 0.8);
    await page.goBack();
    await crash.waitFor();
    await page.getByLabel("Type of event").selectOption("crashed");
    await waitFor(async () =>
      !(await events.allTextContents()).some((text) => /running/.test(text))
    );
    await page.getByLabel("Search events").fill("api code");
    await waitFor(async () => await events.count() === 1);
    assertEquals(paramOf(page, "range"), "1h");
    await events.locator("time").click();
    await page.locator(".log-row.is-cursor").getByText("TypeError: boom").waitFor();

    // A bar of the histogram leads to its lines; then the log can be followed again.
    await dashboard.go("#/logs?t=api");
    await page.getByRole("button", { name: "Now" }).click();
    await page.getByRole("button", { name: "Follow (f)", pressed: true }).waitFor();
    await page.locator(".histogram .is-crashed").first().click();
    await page.locator(".log-row.is-cursor").waitFor();
    await page.getByRole("button", { name: "Follow (f)" }).click();
    await page.getByRole("button", { name: "Follow (f)", pressed: true }).waitFor();

    // Columns are chosen, and kept in the browser; an error of the log is counted.
    await dashboard.go("#/processes");
    await page.getByLabel("Columns", { exact: true }).click();
    await page.getByRole("button", { name: "Errors, 15m" }).click();
    await page.reload();
    await bringAxe(page);
    const errors = page.locator('[data-row="api"]').getByRole("link", { name: "1", exact: true });
    await errors.waitFor();
    // Two of them are compared on one scale.
    for (const name of ["pair:0", "pair:1"]) await page.getByLabel(`Select ${name}`).check();
    await page.getByRole("link", { name: "Compare" }).click();
    const memory = page.locator("figure").filter({ hasText: "Memory" });
    await memory.getByText(/^pair:0 \d/).waitFor();
    await memory.getByText(/^pair:1 \d/).waitFor();
    assertEquals(await memory.locator(".line").count(), 2);

    // An app with two instances counts as one.
    await dashboard.go("#/processes/pair");
    await page.getByText("2 of 2").waitFor();
    assertEquals(await page.locator("[data-row]").count(), 2);
    assertEquals((await findings(page, SEVERE)).join("\n"), "");
    await page.getByRole("tab", { name: "logs" }).click();
    await page.locator(".log-name").getByText("pair:0").waitFor();
    await page.locator(".log-name").getByText("pair:1").waitFor();
    await page.getByRole("button", { name: "Roll" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Roll over" }).click();
    await page.getByText("Rolled over pair").first().waitFor();

    // The log of one run of a job.
    await dashboard.go("#/jobs");
    await page.getByRole("button", { name: "Last runs of nightly" }).click();
    await page.locator(".cron-history").getByRole("link", { name: "Log of this run" }).click();
    await page.locator(".log-row").getByText("the nightly line").waitFor();
    assertEquals(follows, [], "logs are followed on the WebSocket");
  },
);

browserTest("a typed time takes effect as a whole", async (dashboard) => {
  const { page } = dashboard;
  // In a busy browser, this event arrives after further typing.
  await page.addInitScript(`
    const add = addEventListener.bind(window);
    window.addEventListener = (type, listener, options) =>
      add(type, type === "hashchange" ? (event) => setTimeout(listener, 400, event) : listener, options);
  `);
  await dashboard.signIn();
  const [old, chosen, to] = [14, 15, 16].map((day) => new Date(2025, 2, day, 10, 15));
  await dashboard.go(`#/?from=${old!.toISOString()}&to=${to!.toISOString()}`);
  const from = page.getByLabel("From", { exact: true });
  const entries = () => page.evaluate("history.length") as Promise<number>;
  await from.focus();
  const before = await entries();
  await page.keyboard.type("03152025101500AM");
  assertEquals([paramOf(page, "from"), await entries()], [old!.toISOString(), before]);
  await page.keyboard.press("Enter");
  await waitFor(() => paramOf(page, "from") === chosen!.toISOString());
  assertEquals(await entries(), before + 1);

  // Leaving the field applies it too. An invalid time is dropped.
  await page.getByLabel("To", { exact: true }).focus();
  await page.keyboard.type("03172025");
  await page.getByLabel("Time range").focus();
  const later = new Date(to!.getTime() + 86_400_000).toISOString();
  await waitFor(() => paramOf(page, "to") === later);
  const shown = await from.inputValue();
  await from.focus();
  await page.keyboard.type("03150002");
  await page.keyboard.press("Enter");
  await waitFor(async () => await from.inputValue() === shown);
  assertEquals([paramOf(page, "from"), paramOf(page, "to")], [chosen!.toISOString(), later]);
});

browserTest(
  "Back restores the range that was shown before, and a new screen keeps it",
  async (dashboard) => {
    const { page } = dashboard;
    await dashboard.signIn();
    const screens = page.getByRole("navigation", { name: "Screens" });
    await screens.getByRole("link", { name: "Timeline", exact: true }).click();
    await page.getByLabel("Time range").focus();
    await page.keyboard.press("ArrowDown");
    await waitFor(() => paramOf(page, "range") === "1h", { what: "another range" });
    await screens.getByRole("link", { name: "Settings" }).click();
    await waitFor(() => page.url().endsWith("#/settings?range=1h"), { what: "the same range" });
    await page.goBack();
    await page.goBack();
    await page.getByRole("heading", { name: "Timeline" }).waitFor();
    assertEquals(await page.getByLabel("Time range").inputValue(), "15m");
    await page.goForward();
    await waitFor(() => paramOf(page, "range") === "1h", { what: "the later range" });
  },
);
