/** `why`: in plain words, why a process is in the state it is in. */

import { formatDuration } from "../../model/duration.ts";
import type { ProcessInfo } from "../../model/process_info.ts";
import { describeExit } from "../../model/outcomes.ts";
import { lastTextLines } from "../../logs/last_lines.ts";
import type { WhyJson } from "../../protocol/actions.ts";
import { processJson } from "../../protocol/process_json.ts";
import type { ActionContext } from "./context.ts";
import { readTarget } from "./payload.ts";

const STDERR_LINES = 10;

/** Explains one process. */
export async function why({ manager }: ActionContext, payload: unknown): Promise<WhyJson> {
  const { target } = readTarget(payload);
  const info = manager.inspect(target);
  return {
    process: processJson(info),
    reasons: reasonsOf(info, Date.now()),
    last_stderr: await lastTextLines(manager.logPathStderr(target), STDERR_LINES),
    hints: hintsOf(info),
  };
}

/** Whole sentences about a process, the most important first. Pure. */
export function reasonsOf(info: ProcessInfo, now: number): string[] {
  const reasons = [headline(info)];
  if (info.nextRestartAt !== null) {
    reasons.push(`starts again in ${rounded(Math.max(0, info.nextRestartAt.getTime() - now))}`);
  }
  if (info.lastExit !== null) {
    reasons.push(`last exit: ${describeExit(info.lastExit)} at ${info.lastExit.at.toISOString()}`);
  }
  if (info.restarts > 0) {
    const { maxRestarts, restartWindowMs } = info.config;
    reasons.push(
      `restarted ${
        info.restarts === 1 ? "once" : `${info.restarts} times`
      }; ${maxRestarts} within ${formatDuration(restartWindowMs)} are allowed`,
    );
  }
  return reasons;
}

function headline({ name, state, pid, restarts, lastReason, uptimeMs }: ProcessInfo): string {
  if (state !== "running") return `${name} is ${state}${lastReason ? `: ${lastReason}` : ""}`;
  const again = restarts > 0 && lastReason !== "" ? `, started again: ${lastReason}` : "";
  return `${name} is running, up for ${rounded(uptimeMs)} as pid ${pid}${again}`;
}

function hintsOf({ name, state }: ProcessInfo): string[] {
  if (state === "running") return [`procsup logs ${name} -f`];
  return [`procsup logs ${name} --err -n 50`, `procsup restart ${name}`];
}

function rounded(ms: number): string {
  return formatDuration(ms < 1000 ? Math.round(ms) : Math.round(ms / 1000) * 1000);
}
