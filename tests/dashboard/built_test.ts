import { assertEquals } from "@std/assert";
import { builtFrom, sourcesHash } from "../../scripts/checks/dashboard_sources.ts";
import { ASSETS } from "../../src/web/dashboard/assets.ts";

const root = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");

Deno.test("the built dashboard is that of its sources: else deno run -A scripts/build_dashboard.ts", async () => {
  assertEquals(builtFrom(root), await sourcesHash(root));
});

Deno.test("the dashboard has no inline script, no inline style and nothing from elsewhere", () => {
  const page = ASSETS["/"]!.text;
  assertEquals(/<script(?![^>]*\ssrc=)/.test(page), false);
  assertEquals(/<style|\sstyle=|\son\w+=/.test(page), false);
  for (const match of page.matchAll(/\b(?:src|href)="([^"]+)"/g)) {
    assertEquals(Object.hasOwn(ASSETS, match[1]!), true, match[1]);
  }
  assertEquals(/url\(|@import/.test(ASSETS["/assets/app.css"]!.text), false);
});
