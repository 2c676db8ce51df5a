/**
 * Sessions: signing in, what each role may do, reloads, several tabs; and another program at the
 * daemon's address.
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Page } from "playwright-core";
import { pathsIn } from "../../src/platform/files/paths.ts";
import { sealed, unsealed } from "../../src/platform/files/state_file.ts";
import { newKeyPair, publicText } from "../../src/protocol/session_signature.ts";
import { bringAxe, findings } from "./axe.ts";
import { browserTest, type Dashboard, isLive, signInBy } from "./browser.ts";

const IMPACTS = ["minor", "moderate", "serious", "critical"];

const LOOKS = [
  { colorScheme: "light", width: 1280, height: 800 },
  { colorScheme: "dark", width: 1280, height: 800 },
  { colorScheme: "light", width: 390, height: 844 },
  { colorScheme: "dark", width: 320, height: 640 },
] as const;

/** The problems of the current page, in every theme and size. */
async function problems(page: Page, where: string): Promise<string[]> {
  const all: string[] = [];
  await bringAxe(page);
  for (const { colorScheme, width, height } of LOOKS) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme });
    const look = `${where} ${colorScheme} ${width}`;
    all.push(...(await findings(page, IMPACTS)).map((finding) => `${look}: ${finding}`));
    const needed = await page.evaluate("document.documentElement.scrollWidth") as number;
    if (needed > width) all.push(`${look}: ${needed} wide`);
  }
  return all;
}

/** Signs in with a link, which uses it up, and out again. */
async function usedLink({ daemon, page }: Dashboard): Promise<string> {
  const { url } = await daemon.client.call("web_link");
  await page.setViewportSize({ width: 1280, height: 800 });
  await signInBy(url, page);
  await page.evaluate("sessionStorage.clear()");
  // The link differs only in its hash, so the open, signed-in page would handle it.
  await page.goto("about:blank");
  return url;
}

browserTest("axe-core finds nothing on the pages before signing in", async (dashboard) => {
  const { page } = dashboard;
  const origin = await dashboard.listen();
  await page.goto(origin);
  await page.getByRole("heading", { name: "Sign in to procsup" }).waitFor();
  assertEquals(await problems(page, "sign-in"), []);
  await page.getByLabel("paste a link").fill("not-a-code");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").waitFor();
  assertEquals(await problems(page, "refused"), []);

  const used = await usedLink(dashboard);
  await page.goto(used);
  await page.getByText("This link was used already").waitFor();
  assertEquals(await problems(page, "used link"), []);
});

browserTest("the page asks to sign in again when its session expires", async (dashboard) => {
  const { page, daemon } = dashboard;
  await dashboard.signIn();
  await daemon.kill();
  const { sessions } = pathsIn(daemon.home);
  const [session] = unsealed(Deno.readTextFileSync(sessions)) as { until: number }[];
  Deno.writeTextFileSync(sessions, `${sealed([{ ...session, until: Date.now() + 6000 }])}\n`);
  await page.locator(".side-host .is-live").waitFor({ state: "detached" });
  await daemon.run();
  await page.getByRole("heading", { name: "Sign in to procsup" }).waitFor();
});

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
