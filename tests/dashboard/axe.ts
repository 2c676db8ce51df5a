/** Runs axe-core on a page. */

import type { Page } from "playwright-core";

const AXE = await Deno.readTextFile(new URL(import.meta.resolve("axe-core")));

interface Finding {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** Loads axe-core into a page, where it stays until the next navigation. */
export async function bringAxe(page: Page): Promise<void> {
  await page.evaluate(AXE);
}

/** The rules to run: contrast takes as long as all others, and only it depends on the theme. */
export type Rules = "all" | "contrast" | "others";

const RULES: Readonly<Record<Rules, object>> = {
  all: {},
  contrast: { runOnly: ["color-contrast"] },
  others: { rules: { "color-contrast": { enabled: false } } },
};

/** The problems of the visible page, as text. */
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
