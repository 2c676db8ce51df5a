import { fromFileUrl } from "@std/path";
import { assertEquals } from "@std/assert";
import { build, BUILT } from "../../scripts/built.ts";
import { ASSETS } from "../../src/web/dashboard/assets.ts";

const root = fromFileUrl(import.meta.resolve("../..")).replace(/\/$/, "");

for (const one of BUILT) {
  Deno.test(`${one.path} matches its sources: else deno run -A scripts/build.ts`, async () => {
    assertEquals(Deno.readTextFileSync(`${root}/${one.path}`) === await build(root, one), true);
  });
}

Deno.test("the dashboard has no inline script, no inline style and no external resource", () => {
  const page = ASSETS["/"]!.text;
  assertEquals(/<script(?![^>]*\ssrc=)/.test(page), false);
  assertEquals(/<style|\sstyle=|\son\w+=/.test(page), false);
  for (const match of page.matchAll(/\b(?:src|href)="([^"]+)"/g)) {
    // Relative, since a proxy may serve the page below a path.
    assertEquals(match[1]!.startsWith("/"), false, match[1]);
    assertEquals(Object.hasOwn(ASSETS, `/${match[1]}`), true, match[1]);
  }
  assertEquals(/url\(|@import/.test(ASSETS["/assets/app.css"]!.text), false);
});
