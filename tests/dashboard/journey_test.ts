/** Typical use of the dashboard, in a real browser. */

import { assert, assertEquals } from "@std/assert";
import { waitFor } from "../support/wait_for.ts";
import { browserTest, type Dashboard, isLive, signInBy } from "./browser.ts";

/** Later lines come once the gate exists, so that the first ones stay visible until then. */
const hostile = (gate: string) =>
  `i=0; while [ $i -lt 40 ]; do i=$((i+1)); echo "line $i"; done; ` +
  `printf '<img src=x onerror=alert(1)><script>alert(2)</script>\\033]52;c;aGVsbG8=\\007 \\033[31mred\\033[0m\\n'; ` +
  `printf '{"level":"error","msg":"it broke","user":{"id":7}}\\n' >&2; ` +
  `while [ ! -e ${gate} ]; do sleep 0.1; done; while :; do sleep 0.2; i=$((i+1)); echo "later $i"; done`;

/** A moment from now, as in an address. */
const iso = (ms: number) => new Date(Date.now() + ms).toISOString();

function row({ page }: Dashboard, name: string) {
  return page.locator(`[data-row="${name}"]`);
}

browserTest(
  "the dashboard asks to sign in, and the printed link works once",
  async (dashboard) => {
    const { page, daemon } = dashboard;
    await dashboard.listen();
    const { stdout } = await daemon.cli("web", "open");
    await signInBy(/http:\S+/.exec(stdout)![0], page);
    await page.getByRole("heading", { name: "Nothing is running yet" }).waitFor();
    const used = new URL(page.url());
    await page.evaluate("sessionStorage.clear()");
    await page.goto("about:blank");
    await page.goto(used.origin);
    await page.getByText("procsup web open").waitFor();
    await page.getByLabel("paste a link").fill("https://elsewhere/");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("neither a link, nor a code, nor a token").waitFor();
    await page.getByLabel("paste a link").fill("not-a-code");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("not a valid token, and not a valid code").waitFor();
    await page.goto(`${used.origin}/#/login?code=00`);
    await page.getByText("This link was used already").waitFor();
    const { url } = await daemon.client.call("web_link");
    await page.getByLabel("paste a link").fill(url);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Nothing is running yet" }).waitFor();
  },
);

browserTest(
  "start with the form, stop with a confirmation, start again, see a crash",
  async (dashboard) => {
    const { page, daemon } = dashboard;
    await dashboard.signIn();
    await page.getByRole("link", { name: "New process" }).click();
    await page.getByLabel("Name", { exact: true }).fill("bad name!");
    await page.getByLabel("Script or command").fill("/bin/sleep");
    await page.getByLabel("Folder").fill("/");
    await page.getByLabel("Arguments").fill("1000");
    await page.getByRole("button", { name: "Start" }).click();
    await page.locator("#field-name-error").waitFor();
    await page.getByLabel("Name", { exact: true }).fill("sleeper");
    await page.getByRole("button", { name: "Start" }).click();
    await page.getByRole("heading", { name: "sleeper" }).waitFor();
    await waitFor(async () => (await daemon.status("sleeper")).state === "running");
    await dashboard.go("#/start");
    await page.getByLabel("Name", { exact: true }).fill("sleeper");
    await page.getByLabel("Script or command").fill("/bin/sleep");
    await page.getByLabel("Folder").fill("/");
    await page.getByRole("button", { name: "Start" }).click();
    await page.locator("#field-name-error").waitFor();
    await page.getByLabel("Name", { exact: true }).fill("looping");
    const more = page.getByLabel("More, as YAML");
    await more.fill("restart_delay: soon");
    await page.getByRole("button", { name: "Start" }).click();
    await page.locator("#field-more:focus").waitFor();
    await page.locator("#field-more-error").getByText('Invalid "restart_delay"').waitFor();
    await more.fill("tags: [");
    await page.getByRole("button", { name: "Start" }).click();
    await page.getByRole("alert").getByText("not valid YAML").waitFor();
    await more.fill("restart_delay: 10ms\nmax_restarts: 1");
    await page.getByLabel("Script or command").fill("/bin/false");
    await page.getByRole("button", { name: "Start" }).click();
    await page.getByText('Cannot start "looping"').waitFor();
    await page.getByRole("heading", { name: "looping" }).waitFor();
    await page.getByRole("tab", { name: "env" }).click();
    await page.getByRole("tab", { name: "config" }).click();
    await page.getByText("Effective configuration").waitFor();
    await page.goBack();
    await page.getByText("Values are never shown").waitFor();
    await dashboard.go("#/processes/sleeper");

    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByRole("button", { name: "Cancel" }).click();
    assertEquals((await daemon.status("sleeper")).state, "running");
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Stop" }).click();
    await page.getByText("Stopped sleeper").first().waitFor();
    assertEquals((await daemon.status("sleeper")).state, "stopped");
    await page.getByRole("button", { name: "Start again" }).click();
    await page.getByText("Started sleeper").last().waitFor();
    const pidOf = async () => (await daemon.status("sleeper")).pid;
    // The pid is 0 until the app runs, and a signal to 0 would hit our own process group.
    await waitFor(async () => await pidOf() > 1);
    const pid = await pidOf();
    assert(pid > 1);
    Deno.kill(pid, "SIGKILL");
    await page.getByText("started again").first().waitFor();
    await dashboard.go("#/processes/sleeper?tab=events");
    await page.locator(".events").getByText("crashed").first().waitFor();
  },
);

browserTest(
  "a log is followed, paused, searched and filtered, and never becomes HTML",
  async (dashboard) => {
    const { page, daemon } = dashboard;
    const gate = `${daemon.home}/gate`;
    await daemon.startScript("chatty", hostile(gate));
    await dashboard.signIn();
    await dashboard.go("#/logs?t=chatty");
    const log = page.getByRole("log");
    await log.getByText("<img src=x onerror=alert(1)><script>alert(2)</script>").waitFor();
    assertEquals(await page.locator(".log-list img, .log-list script").count(), 0);
    assertEquals(await log.locator(".fg-1").first().textContent(), "red");
    await Deno.writeTextFile(gate, "");
    await log.getByText(/later \d+/).first().waitFor();

    await page.locator(".log-list").hover();
    await page.mouse.wheel(0, -2000);
    await page.getByRole("button", { name: /new lines? ↓/ }).waitFor();
    await page.keyboard.press("f");
    await page.getByRole("button", { name: "Follow (f)", pressed: true }).waitFor();
    await page.locator(".log-row").last().click();
    await page.locator(".line-details").waitFor();
    await page.getByRole("button", { name: "Follow (f)", pressed: false }).waitFor();
    await page.keyboard.press("Escape");
    await page.locator(".line-details").waitFor({ state: "detached" });
    await page.keyboard.press("f");

    await page.keyboard.press("/");
    await page.keyboard.type("line 1\\d$");
    await page.getByRole("button", { name: "Regular expression" }).click();
    await waitFor(async () => await page.locator(".log-row").count() === 10);
    await page.getByRole("button", { name: "Keep the other lines" }).click();
    await waitFor(async () => await page.locator(".log-row").count() > 10);
    await page.getByText("10", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Next match (n)" }).click();
    await page.getByText("1 / 10").waitFor();
    await page.getByLabel("Search the lines").fill("(");
    await page.getByText("Unterminated group").waitFor();
    await page.getByLabel("Search the lines").fill("");

    await page.getByLabel("Level", { exact: true }).selectOption("error");
    await waitFor(async () => await page.locator(".log-row").count() === 1);
    await page.locator(".log-row").click();
    await page.locator(".fields").getByText("it broke").waitFor();
    assert(page.url().includes("level=error"));

    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Copy a link to this line" }).click();
    await page.getByText("Copied").waitFor();
    const link = await page.evaluate("navigator.clipboard.readText()") as string;
    // Over plain HTTP from another machine a page has no clipboard.
    await page.evaluate(`window.board = navigator.clipboard;
      Object.defineProperty(navigator, "clipboard", { value: undefined })`);
    await page.getByRole("button", { name: "Copy the line" }).click();
    await page.getByText("Copied").nth(1).waitFor();
    assert((await page.evaluate("board.readText()") as string).includes('"it broke"'));
    assertEquals(await page.evaluate("document.activeElement.ariaLabel"), "Copy the line");
    await dashboard.go("#/");
    await dashboard.go(new URL(link).hash);
    await page.locator(".log-row.is-cursor").getByText("it broke").waitFor();
    // With the surrounding lines.
    await waitFor(async () => await page.locator(".log-row").count() > 5);
  },
);

browserTest("everything works with the keyboard alone", async (dashboard) => {
  const { page, daemon } = dashboard;
  for (const name of ["one", "two", "three"]) await daemon.startScript(name, "sleep 1000");
  await dashboard.signIn();
  await page.getByRole("heading", { name: "Timeline" }).waitFor();
  await page.keyboard.press("Tab");
  assertEquals(await page.evaluate("document.activeElement.textContent"), "Skip to content");
  await page.keyboard.press("g");
  await page.keyboard.press("p");
  await row(dashboard, "three").waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await page.getByText("2 selected").waitFor();
  await page.keyboard.press("S");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  // Both are stopped at once, and either may be the last.
  for (const name of ["one", "two"]) {
    await row(dashboard, name).getByText("stopped").waitFor();
    assertEquals((await daemon.status(name)).state, "stopped");
  }
  assertEquals((await daemon.status("three")).state, "running");
  await page.keyboard.press("Escape");
  await page.keyboard.press("/");
  await page.keyboard.type("thr");
  await row(dashboard, "one").waitFor({ state: "detached" });
  await page.keyboard.press("Escape");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "three" }).waitFor();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog", { name: "Keys" }).waitFor({ state: "detached" });
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog", { name: "Go to" }).waitFor();
  await page.keyboard.type("depen");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Dependencies", exact: true }).waitFor();
  for (const [key, heading] of [["t", "Timeline"], ["j", "Jobs"], ["a", "Apply a configuration"]]) {
    await page.keyboard.press("g");
    await page.keyboard.press(key!);
    await page.getByRole("heading", { name: heading! }).waitFor();
  }
  for (const key of ["g", "t", "/"]) await page.keyboard.press(key);
  await page.keyboard.type("two");
  await waitFor(() => page.url().includes("q=two"), { what: "a search of the events" });
});

browserTest("a lost connection is shown, and recovers without a reload", async (dashboard) => {
  const { page, daemon } = dashboard;
  await daemon.startScript("steady", "sleep 1000");
  await dashboard.signIn();
  await dashboard.go("#/processes");
  await row(dashboard, "steady").waitFor();
  await page.evaluate("window.isSame = true");
  await page.context().setOffline(true);
  await daemon.cli("web", "stop");
  await page.getByText("No connection to the daemon").waitFor();
  await page.getByText(/shown as of \d\d:\d\d:\d\d/).waitFor();
  await page.locator("main.stale").waitFor();
  await dashboard.go("#/settings");
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("Signing out failed").waitFor();
  // A fixed range is requested once, which fails now.
  await dashboard.go(`#/?from=${iso(-3_600_000)}&to=${iso(3_600_000)}`);
  await page.getByRole("heading", { name: "Timeline" }).waitFor();
  await daemon.client.call("stop", { target: "steady" });
  await page.context().setOffline(false);
  const { host } = new URL(page.url());
  await daemon.cli("web", "start", "--listen", host);
  const banner = page.getByText("No connection to the daemon");
  await banner.waitFor({ state: "detached" });
  await page.locator(".events li", { hasText: "steady" }).getByText("stopped").first().waitFor();
  await daemon.startScript("newcomer", "sleep 1000");
  await dashboard.go("#/processes");
  await row(dashboard, "newcomer").getByText("running").waitFor();
  assertEquals(await page.evaluate("window.isSame"), true);
});

browserTest(
  "a page that is looked at again after a loss opens one WebSocket",
  async (dashboard) => {
    const { page, daemon } = dashboard;
    const sockets: { isClosed(): boolean }[] = [];
    page.on("websocket", (socket) => sockets.push(socket));
    await dashboard.signIn();
    const { host } = new URL(page.url());
    await daemon.cli("web", "stop");
    const banner = page.getByText("No connection to the daemon");
    await banner.waitFor();
    await daemon.cli("web", "start", "--listen", host);
    // A browser that shows the tab again sends both.
    await page.evaluate(
      'dispatchEvent(new Event("focus")); document.dispatchEvent(new Event("visibilitychange"))',
    );
    await banner.waitFor({ state: "detached" });
    await isLive(page);
    await page.waitForTimeout(1000);
    assertEquals(sockets.filter((socket) => !socket.isClosed()).length, 1);
  },
);
