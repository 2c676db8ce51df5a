/** The machines page: one that answers over ssh, one that does not, and which roles see them. */

import { assert, assertEquals } from "@std/assert";
import { TestDaemon } from "../support/procsup.ts";
import { sshdMissing, SshServer } from "../support/ssh_server.ts";
import { browserTest } from "./browser.ts";

browserTest("the machines are listed, including unreachable ones", async (dashboard) => {
  const { page, daemon } = dashboard;
  await using other = await TestDaemon.start();
  await using server = await SshServer.start(other.home);
  await other.startScript("remote", "exec sleep 1000");
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
  }
  const origin = new URL(page.url()).origin;
  const { token } = await daemon.client.call("token_create", { name: "reader", role: "read" });
  const answer = await fetch(`${origin}/api/v1/contexts`, {
    headers: { authorization: `Bearer ${token}` },
  });
  await answer.body?.cancel();
  assertEquals(answer.status, 403);
}, sshdMissing());
