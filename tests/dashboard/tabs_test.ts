/**
 * Staying signed in: reloads, several tabs, links, and what other programs can do with the cookie.
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Page } from "playwright-core";
import { browserTest, isLive, signInBy } from "./browser.ts";

function signedOut(page: Page): Promise<void> {
  return page.getByRole("heading", { name: "Sign in to procsup" }).waitFor();
}

/** The `Cookie` header that the browser sends to another program on this host. */
async function cookieSentElsewhere(page: Page): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    resolve(request.headers.get("cookie") ?? "");
    return new Response("hello");
  });
  await page.goto(`http://127.0.0.1:${server.addr.port}/`);
  return await promise;
}

/** The close code of a WebSocket that first sends these messages. */
async function socketWith(url: string, cookie: string, messages: readonly unknown[]) {
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws`, { headers: { cookie } });
  let got = 0;
  socket.onmessage = () => got++;
  socket.onopen = () => messages.forEach((message) => socket.send(JSON.stringify(message)));
  const { code } = await new Promise<CloseEvent>((resolve) => socket.onclose = resolve);
  return { code, got };
}

browserTest(
  "tabs of the dashboard share the session, but another program's port does not",
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

    const elsewhere = await context.newPage();
    const cookie = await cookieSentElsewhere(elsewhere);
    await elsewhere.close();
    assertMatch(cookie, /^procsup_session_[0-9a-f]{8}=[0-9a-f]{64}$/);
    for (const path of ["/api/v1/processes", "/api/v1/session", "/metrics", "/api/v1/events"]) {
      const answer = await fetch(`${origin}${path}`, { headers: { cookie } });
      await answer.body?.cancel();
      assertEquals(answer.status, 401, path);
    }
    const subscribe = { type: "subscribe", topics: ["events"] };
    const wrong = { type: "session", secret: "0".repeat(64) };
    for (const first of [subscribe, wrong, null]) {
      assertEquals(await socketWith(origin, cookie, [first, subscribe]), { code: 1008, got: 0 });
    }

    // Signing in again signs the other tabs in too.
    const { url } = await daemon.client.call("web_link");
    await signInBy(url, second);
    await page.reload();
    await isLive(page);
    await page.close();
    await second.close();
    const late = await context.newPage();
    await late.goto(origin);
    await signedOut(late);
    await signInBy((await daemon.client.call("web_link")).url, late);
    const last = await context.newPage();
    await last.goto(`${origin}/#/host`);
    await last.getByRole("button", { name: "Sign out" }).click();
    await signedOut(last);
    await signedOut(late);
  },
);
