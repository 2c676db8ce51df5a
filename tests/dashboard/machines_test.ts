/** Machines and tokens in the settings, what leads to them, and which roles see them. */

import { assert, assertEquals } from "@std/assert";
import { freePort } from "../support/http_load.ts";
import { TestDaemon } from "../support/procsup.ts";
import { sshdMissing, SshServer } from "../support/ssh_server.ts";
import { browserTest } from "./browser.ts";

browserTest("the machines are listed, including unreachable ones", async (dashboard) => {
  const { page, daemon } = dashboard;
  await using other = await TestDaemon.start();
  await using server = await SshServer.start(other.home);
  await other.startScript("remote", "exec sleep 1000");
  await other.client.call("web_start", {
    ...{ listen: `127.0.0.1:${freePort()}`, hosts: ["web1.example.com"] },
  });
  await daemon.kill();
  await daemon.run({ ...server.env, PROCSUP_HOME: daemon.home });
  await daemon.startScript("here", "exec sleep 1000");
  await dashboard.signIn();
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 900 });
    await dashboard.go("#/");
    await dashboard.go("#/settings/machines");
    await page.getByRole("region", { name: "local" }).getByText("here", { exact: true }).waitFor();
    const web1 = page.getByRole("region", { name: "web1" });
    await web1.getByText("1 running").waitFor();
    await web1.getByText("remote", { exact: true }).waitFor();
    await page.getByRole("region", { name: "down" }).getByText("Cannot reach down by ssh")
      .waitFor();
    const shown = await page.evaluate("document.documentElement.scrollWidth") as number;
    assert(shown <= width, `${shown} at ${width}`);
    await dashboard.go("#/logs?level=error");
    await page.locator("button:has(.side-host)").click();
    const link = page.getByRole("group", { name: "Machines" }).getByRole("link", { name: "web1" });
    assertEquals(await link.getAttribute("href"), "https://web1.example.com/#/logs?level=error");
    await page.keyboard.press("Escape");
  }
  // A token is made, shown once, used and revoked.
  await dashboard.go("#/settings/tokens");
  await page.getByRole("button", { name: "New token" }).click();
  await page.getByLabel("Name").fill("ci");
  await page.getByLabel("Role").selectOption("operate");
  await page.getByLabel("Only these apps").fill("here");
  await page.getByRole("button", { name: "Create" }).click();
  const secret = await page.getByRole("region", { name: "Token ci" }).locator("code").innerText();
  const row = page.getByRole("row", { name: "ci" });
  assertEquals((await row.innerText()).split(/\s/).slice(0, 4), ["ci", "operate", "here", "never"]);
  const origin = new URL(page.url()).origin;
  const { token } = await daemon.client.call("token_create", { name: "reader", role: "read" });
  const answer = await fetch(`${origin}/api/v1/contexts`, {
    headers: { authorization: `Bearer ${token}` },
  });
  await answer.body?.cancel();
  assertEquals(answer.status, 403);
  const asCi = async () =>
    (await fetch(`${origin}/api/v1/session`, { headers: { authorization: `Bearer ${secret}` } }))
      .status;
  assertEquals(await asCi(), 200);
  await page.getByRole("button", { name: "Revoke ci" }).click();
  await page.getByRole("button", { name: "Revoke", exact: true }).click();
  await row.waitFor({ state: "detached" });
  assertEquals(await asCi(), 401);
  assert(!(await page.content()).includes(secret));
}, { ignore: sshdMissing(), ownDaemon: true });
