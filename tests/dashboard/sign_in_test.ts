/** axe-core on the pages before signing in, in both themes and on a phone. */

import { assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import { pathsIn } from "../../src/platform/files/paths.ts";
import { sealed, unsealed } from "../../src/platform/files/state_file.ts";
import { bringAxe, findings } from "./axe.ts";
import { browserTest, type Dashboard, signInBy } from "./browser.ts";

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
