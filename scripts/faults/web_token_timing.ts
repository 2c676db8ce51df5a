// deno-lint-ignore-file no-console
/**
 * Measures whether the time of a refusal tells how much of a guessed token is right. It tries tokens
 * that are wrong only in the first or only in the last character, in random order, and compares the
 * times by the rank test of Mann and Whitney. Expected: |z| below 4, which chance exceeds in one of ten
 * thousand runs.
 *
 * `deno run -A scripts/faults/web_token_timing.ts [pairs]`
 */

import { TestWeb } from "../../tests/support/web.ts";

/** The token with one character changed. */
function wrongAt(token: string, at: number): string {
  return token.slice(0, at) + (token[at] === "0" ? "1" : "0") + token.slice(at + 1);
}

async function timeOf(web: TestWeb, token: string): Promise<number> {
  const asked = performance.now();
  const { status } = await web.ask("GET", "/api/v1/processes", undefined, {
    authorization: `Bearer ${token}`,
  });
  if (status !== 401 && status !== 429) throw new Error(`${status}`);
  return performance.now() - asked;
}

/** Deviation of the ranks of two samples from chance, in standard deviations. */
function rankDifference(ones: readonly number[], others: readonly number[]): number {
  const all = [...ones.map((ms) => ({ ms, is: 1 })), ...others.map((ms) => ({ ms, is: 0 }))]
    .sort((a, b) => a.ms - b.ms);
  const sum = all.reduce((ranks, { is }, rank) => ranks + is * (rank + 1), 0);
  const [n, m] = [ones.length, others.length];
  return (sum - n * (n + m + 1) / 2) / Math.sqrt(n * m * (n + m + 1) / 12);
}

function median(times: readonly number[]): string {
  return times.toSorted((a, b) => a - b)[times.length >> 1]!.toFixed(4);
}

async function main([pairs = "20000"]: readonly string[]): Promise<number> {
  await using web = await TestWeb.start();
  const [near, far] = [wrongAt(web.token, web.token.length - 1), wrongAt(web.token, 0)];
  for (let i = 0; i < 2000; i++) await timeOf(web, i % 2 === 0 ? near : far);
  const [nearMs, farMs]: [number[], number[]] = [[], []];
  for (let i = 0; i < Number(pairs); i++) {
    const nearFirst = Math.random() < 0.5;
    for (const isNear of [nearFirst, !nearFirst]) {
      (isNear ? nearMs : farMs).push(await timeOf(web, isNear ? near : far));
    }
  }
  const z = rankDifference(nearMs, farMs);
  console.log(
    `${pairs} pairs: wrong in the last character ${median(nearMs)} ms, ` +
      `in the first ${median(farMs)} ms, z = ${z.toFixed(2)}`,
  );
  return Math.abs(z) < 4 ? 0 : 1;
}

Deno.exit(await main(Deno.args));
