/** What axe-core has to say of a page. */

import type { Page } from "playwright-core";

const AXE = await Deno.readTextFile(new URL(import.meta.resolve("axe-core")));

interface Finding {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** Brings axe-core into a page, where it stays until another one is loaded. */
export async function bringAxe(page: Page): Promise<void> {
  await page.evaluate(AXE);
}

/** What is wrong with what a page shows, in words. */
export async function findings(page: Page, impacts: readonly string[]): Promise<string[]> {
  const { violations } = await page.evaluate(
    'axe.run({ resultTypes: ["violations"] })',
  ) as { violations: Finding[] };
  return violations.filter(({ impact }) => impacts.includes(impact)).map(({ id, nodes }) =>
    `${id}: ${nodes.slice(0, 2).map((n) => `${n.html} ${n.failureSummary}`)}`
  );
}
