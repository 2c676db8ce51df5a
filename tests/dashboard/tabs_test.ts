/**
 * Staying signed in: reloads, several tabs, links; and another program at the daemon's address.
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Page } from "playwright-core";
import { newKeyPair, publicText } from "../../src/protocol/session_signature.ts";
import { browserTest, isLive, signInBy } from "./browser.ts";

function signedOut(page: Page): Promise<void> {
  return page.getByRole("heading", { name: "Sign in to procsup" }).waitFor();
}

/** All that the page keeps where another page of this origin could read it. */
function keptIn(page: Page): Promise<string> {
  return page.evaluate(
    "JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie])",
  );
}

browserTest(
  "tabs of the dashboard share the sign-in, which ends with the last of them",
  async (dashboard) => {
    const { page, daemon } = dashboard;
    const context = page.context();
    await daemon.startScript("app", "sleep 1000");
    await dashboard.signIn();
    assert(!page.url().includes("code="), page.url());
    const { origin } = new URL(page.url());
    await page.reload();
    await isLive(page);

    const second = await context.newPage();
    await second.goto(`${origin}/#/processes/app`);
    await second.getByRole("heading", { name: "app" }).waitFor();
    await second.getByRole("button", { name: "Restart" }).click();
    await second.getByRole("dialog").getByRole("button", { name: "Restart" }).click();
    await second.getByText("Restarted app").first().waitFor();

    assertEquals(await context.cookies(), []);
    assertMatch(await keptIn(page), /^\[\{"procsup.pass\/":"[0-9a-f]{64}"\},\{[^}]*\},""\]$/);

    // Signing in again signs the other tabs in too.
    const { url } = await daemon.client.call("web_link");
    await signInBy(url, second);
    await isLive(page);
    await page.close();
    await second.close();
    const late = await context.newPage();
    await late.goto(origin);
    await signedOut(late);
    await signInBy((await daemon.client.call("web_link")).url, late);
    const last = await context.newPage();
    await last.goto(`${origin}/#/settings`);
    await last.getByRole("button", { name: "Sign out" }).click();
    await signedOut(last);
    await signedOut(late);
  },
);

browserTest(
  "a tab recognises another program at the daemon's port, and sends it nothing that opens anything",
  async (dashboard) => {
    const { page, daemon } = dashboard;
    await daemon.startScript("app", "sleep 1000");
    await dashboard.signIn();
    await isLive(page);
    const { origin, hostname, port } = new URL(page.url());
    const kept = await keptIn(page);
    await daemon.client.call("web_stop");

    const seen: { readonly method: string; readonly path: string; readonly headers: Headers }[] =
      [];
    const taken = Deno.serve({ hostname, port: Number(port), onListen() {} }, (request) => {
      const { pathname, search } = new URL(request.url);
      seen.push({ method: request.method, path: pathname + search, headers: request.headers });
      // What it once saw of the daemon does not help it.
      return Response.json({ epoch: "0".repeat(32), time: Date.now(), proof: "0".repeat(64) });
    });
    await page.getByText("Another program answers at this address").waitFor();
    await taken.shutdown();

    const listen = origin.replace("http://", "");
    await daemon.client.call("web_start", { listen });
    for (const { method, path, headers } of seen) {
      const again = await fetch(`${origin}${path}`, { method, headers });
      await again.body?.cancel();
      assert([401, 404].includes(again.status) || path.includes("/proof?"), `${method} ${path}`);
    }
    const [{ "procsup.pass/": code }] = JSON.parse(kept);
    const { id } = await newTab();
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ code, key: id });
    const used = await fetch(`${origin}/api/v1/session`, { method: "POST", headers, body });
    assertEquals((await used.json()).code, "unauthorized");
    // The tab itself goes on.
    await isLive(page);
    await page.reload();
    await isLive(page);
  },
);

/** The public key of a tab. */
async function newTab(): Promise<{ readonly id: string }> {
  return { id: await publicText(await newKeyPair()) };
}
