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

/** Which rules: contrast takes as long as all others, and it alone depends on the theme. */
export type Rules = "all" | "contrast" | "others";

const RULES: Readonly<Record<Rules, object>> = {
  all: {},
  contrast: { runOnly: ["color-contrast"] },
  others: { rules: { "color-contrast": { enabled: false } } },
};

/** What is wrong with what a page shows, in words. */
export async function findings(
  page: Page,
  impacts: readonly string[],
  rules: Rules = "all",
): Promise<string[]> {
  const options = { resultTypes: ["violations"], ...RULES[rules] };
  const { violations } = await page.evaluate(
    `axe.run(${JSON.stringify(options)})`,
  ) as { violations: Finding[] };
  return violations.filter(({ impact }) => impacts.includes(impact)).map(({ id, nodes }) =>
    `${id}: ${nodes.slice(0, 2).map((n) => `${n.html} ${n.failureSummary}`)}`
  );
}
