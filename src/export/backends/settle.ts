/** Waits for rollouts by polling, and reports changes. */

import { sleep } from "../../platform/clock.ts";
import type { OnProgress, Rollout } from "./backend.ts";

/** Poll interval. */
const POLL_MS = 1000;

/** A rollout that makes no progress for this long has failed. */
const PATIENCE_MS = 10 * 60_000;

/** Progress of a rollout; `ok` is undefined while it is running. */
export type Progress = Omit<Rollout, "ok"> & { readonly ok: boolean | undefined };

/** Resolves when each rollout has succeeded or failed, or none makes progress. */
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
