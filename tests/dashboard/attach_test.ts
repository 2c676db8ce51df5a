/** The terminal of an app in the browser. */

import { assert, assertEquals } from "@std/assert";
import { waitFor } from "../support/wait_for.ts";
import { browserTest, calledBy, VIOLATIONS } from "./browser.ts";

browserTest("an app with a terminal is used in the browser", async (dashboard) => {
  const { page, daemon } = dashboard;
  await page.addInitScript(VIOLATIONS);
  const requested: string[] = [];
  page.on("request", (request) => requested.push(new URL(request.url()).pathname));
  await daemon.startScript("shell", "PS1='$ ' exec sh -i", { tty: true, restart_policy: "never" });
  await daemon.startScript("plain", "exec sleep 1000");
  await dashboard.signIn();
  const rows = page.locator(".xterm-rows");
  const sees = (text: string | RegExp) => rows.filter({ hasText: text }).waitFor();
  const types = async (line: string) => {
    await page.keyboard.type(line);
    await page.keyboard.press("Enter");
  };
  const tab = page.getByRole("tab", { name: "terminal" });

  await dashboard.go("#/processes/plain");
  await page.getByRole("tab", { name: "events" }).waitFor();
  assertEquals(await tab.count(), 0);
  assert(!requested.includes("/assets/terminal.js"));
  await dashboard.go("#/processes/shell");
  await tab.click();
  const status = page.locator(".tty + div [role=status]");
  await status.filter({ hasText: "Attached" }).waitFor();
  await page.locator(".tty:focus-within").waitFor();
  await types("echo $((6 * 7)); stty size");
  await sees("42");
  const size = async () =>
    /(\d+) (\d+)\s*\$\s*$/.exec((await rows.innerText()).trimEnd())?.slice(1);
  await waitFor(async () => (await size()) !== undefined, { what: "the size" });
  const [height, width] = (await size())!.map(Number) as [number, number];
  assert(height > 24 && width > 80, `${height} ${width}`);

  // A color of the palette, and a true color.
  await types(String.raw`clear; printf '\033[31mred\033[0m \033[38;2;1;200;99mtrue\033[0m\n'`);
  const colorOf = (text: string) =>
    page.evaluate(
      `[...document.querySelectorAll(".xterm-rows span")]` +
        `.find(({ textContent }) => textContent === "${text}")?.style.color`,
    );
  await sees("red true");
  await waitFor(async () => await colorOf("true") === "rgb(1, 200, 99)", {
    what: "the true color",
  });
  assert(await colorOf("red") !== await colorOf("true"));
  const ground =
    "getComputedStyle(document.querySelector('.xterm-scrollable-element')).backgroundColor";
  assertEquals(await page.evaluate(ground), "rgb(14, 16, 20)");

  await types("clear; sleep 1000");
  await page.keyboard.press("Control+c");
  await sees(/\^C\s*\$/);
  await types("echo status $?");
  await sees("status 130");
  await page.evaluate(`(() => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", "echo pasted-$((1 + 1))");
    const event = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true });
    document.activeElement.dispatchEvent(event);
  })()`);
  await types("");
  await sees("pasted-2");

  const resized = page.waitForResponse((answer) => calledBy(answer.request()).action === "attach");
  await page.setViewportSize({ width: 900, height: 600 });
  await resized;
  await types("clear; stty size");
  await waitFor(async () => {
    const [rows = 99, columns = 999] = ((await size()) ?? []).map(Number);
    return rows < height && columns < width;
  }, { what: "the smaller size" });

  // Half of a character, then another daemon, then the other half.
  await types(
    String.raw`clear; stty -echo; printf 'half \342\202'; read _; printf '\254 whole\n'; stty echo`,
  );
  await sees(/^half/);
  await daemon.kill();
  await status.filter({ hasText: "connecting again" }).waitFor();
  await daemon.run();
  await status.filter({ hasText: "Attached" }).waitFor();
  await types("");
  await sees("€ whole");

  // More than a browser can show: it stays usable.
  await types("clear; yes");
  await sees(/y\s*y\s*y/);
  await page.keyboard.press("Control+c");
  await sees(/\^C\s*\$/);
  await types("clear; echo after");
  await sees("after");

  await page.getByLabel("For a screen reader").check();
  await page.locator(".xterm-accessibility").filter({ hasText: "after" }).waitFor();
  await page.locator(".xterm-helper-textarea").focus();
  await page.keyboard.press("Control+]");
  assertEquals(await page.evaluate("document.activeElement.id"), "tab-terminal");

  await page.locator(".xterm-helper-textarea").focus();
  await types("exit 3");
  await status.filter({ hasText: /Ended: .*exit code 3/ }).waitFor();
  await daemon.client.call("start", { target: "shell" });
  await status.filter({ hasText: "Attached" }).waitFor();
  await types("echo again");
  await sees("again");
  assertEquals(await page.evaluate("window.violations"), undefined);
});
