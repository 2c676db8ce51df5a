/** Waits until processes reach a point in their life. */

import { nearestWord } from "../model/nearest_word.ts";
import { ProcsupError } from "../model/errors.ts";
import type { ProcessInfo } from "../model/process_info.ts";
import { quote } from "../model/quote.ts";
import { AT_REST } from "../model/transition_steps.ts";
import { WAIT_POINTS, type WaitPoint } from "../model/wait_point.ts";
import type { ManagedProcess } from "../process/managed_process.ts";

const REACHED: Readonly<Record<WaitPoint, (info: ProcessInfo) => boolean>> = {
  running: ({ state }) => state === "running",
  ready: ({ state, ready }) => state === "running" && ready,
  stopped: ({ state }) => state === "stopped",
  exit: ({ state }) => AT_REST.has(state),
};

/**
 * Resolves when each process has reached a point. Throws `bad_request` for an unknown point, the
 * reason if a process is deleted or released before, and the signal's reason.
 */
export async function untilReached(
  processes: readonly ManagedProcess[],
  point: WaitPoint,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (!Object.hasOwn(REACHED, point)) {
    const near = nearestWord(String(point), WAIT_POINTS);
    const what = near === undefined ? `one of ${WAIT_POINTS.join(", ")}` : `"${near}"`;
    throw new ProcsupError("bad_request", `Invalid "for" ${quote(point)}: expected ${what}`);
  }
  await Promise.all(processes.map((process) => {
    const given = signal === undefined ? [process.gone] : [signal, process.gone];
    return process.until(() => REACHED[point](process.info()), AbortSignal.any(given));
  }));
}
