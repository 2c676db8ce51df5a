/** Waits for rollouts: asks again and again, and tells what has changed. */

import { sleep } from "../../platform/clock.ts";
import type { OnProgress, Rollout } from "./backend.ts";

/** Time between two looks. */
const POLL_MS = 1000;

/** A rollout that makes no progress for this long has failed. */
const PATIENCE_MS = 10 * 60_000;

/** How far a rollout is; `ok` is undefined while it goes on. */
export type Progress = Omit<Rollout, "ok"> & { readonly ok: boolean | undefined };

/** Resolves when each has succeeded or failed. */
export async function settleRollouts(
  look: () => Promise<readonly Progress[]>,
  onProgress: OnProgress,
): Promise<Rollout[]> {
  const last = new Map<string, string>();
  let since = performance.now();
  for (;;) {
    const all = await look();
    for (const { app, text } of all) {
      if (last.get(app) === text) continue;
      last.set(app, text);
      since = performance.now();
      onProgress(`${app}  ${text}`);
    }
    const isLate = performance.now() - since > PATIENCE_MS;
    if (isLate || all.every(({ ok }) => ok !== undefined)) {
      return all.map(({ app, ok, text }) => ({ app, text, ok: ok === true }));
    }
    await sleep(POLL_MS);
  }
}
