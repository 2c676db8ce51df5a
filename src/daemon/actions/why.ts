/** `why`: in plain words, why a process is in the state it is in. */

import { formatDuration } from "../../model/duration.ts";
import type { ProcessInfo } from "../../model/process_info.ts";
import { describeExit } from "../../model/outcomes.ts";
import type { ManagedProcess } from "../../process/managed_process.ts";
import { processJson } from "../../protocol/process_json.ts";
import { lastWords, portHint } from "../../manager/last_words.ts";
import type { Handlers } from "./context.ts";

/** The implementation of `why`. */
export const WHY_ACTIONS: Handlers<"why"> = {
  async why({ manager }, { target }) {
    const info = manager.inspect(target);
    const process = manager.fleet.registry.resolve(info.id)[0]!;
    // Of one that runs again those of the run before count as well: they tell why that ended.
    const from = info.state === "running" ? 0 : undefined;
    const last_stderr = await lastWords(manager.fleet, process, from);
    return {
      process: processJson(info),
      reasons: reasonsOf(info, Date.now(), lastProblem(process)),
      last_stderr,
      hints: hintsOf(info, last_stderr),
    };
  },
};

/** What was wrong at the last health check that failed; empty when none did. */
function lastProblem({ journal }: ManagedProcess): string {
  return journal.checks.findLast(({ problem }) => problem !== "")?.problem ?? "";
}

/** Whole sentences about a process, the most important first. Pure. */
export function reasonsOf(info: ProcessInfo, now: number, problem = ""): string[] {
  const reasons = [headline(info)];
  if (info.state === "running" && info.health === "unhealthy") {
    reasons.push(`unhealthy${problem === "" ? "" : `: ${problem}`}`);
  }
  if (info.state === "running" && !info.ready) reasons.push("not ready");
  if (info.nextRestartAt !== null) {
    reasons.push(`starts again in ${rounded(Math.max(0, info.nextRestartAt.getTime() - now))}`);
  }
  if (info.state === "crashed" && info.config.restartPolicy === "never") {
    reasons.push("stays down: restart_policy is never");
  }
  const { cron } = info.config;
  if (cron !== undefined && info.state !== "running") {
    reasons.push(`started by the clock only: ${cron.schedule}`);
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

function headline(info: ProcessInfo): string {
  const { name, state, pid, restarts, lastReason, lastExit, uptimeMs } = info;
  if (state !== "running") return `${name} is ${state}${lastReason ? `: ${lastReason}` : ""}`;
  // Restarts by the watch, the clock or a person are not counted.
  const again = (restarts > 0 || lastExit !== null) && lastReason !== ""
    ? `, started again: ${lastReason}`
    : "";
  return `${name} is running, up for ${rounded(uptimeMs)} as pid ${pid}${again}`;
}

/** What to do next, the most telling first. Pure. */
export function hintsOf(
  { name, state, config, lastExit }: ProcessInfo,
  stderr: readonly string[] = [],
): string[] {
  if (state === "running") {
    const before = lastExit === null ? [] : [`procsup events ${name} --since 24h`];
    return [`procsup logs ${name} -f`, ...before];
  }
  if (state === "stopped" && config.cron !== undefined) {
    return [`procsup cron history ${name}`, `procsup cron run ${name}`];
  }
  const port = portHint(config, stderr);
  return [
    ...(port === undefined ? [] : [port]),
    `procsup logs ${name} --err -n 50`,
    `procsup restart ${name}`,
  ];
}

function rounded(ms: number): string {
  return formatDuration(ms < 1000 ? Math.round(ms) : Math.round(ms / 1000) * 1000);
}
