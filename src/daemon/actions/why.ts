/** `why`: explains in plain words why a process is in its state. */

import { formatDuration } from "../../model/duration.ts";
import type { ProcessInfo } from "../../model/process_info.ts";
import { isSuccess, wantsReadiness } from "../../model/transition_steps.ts";
import type { ManagedProcess } from "../../process/managed_process.ts";
import { readySign } from "../../process/readiness.ts";
import { processJson } from "../../protocol/process_json.ts";
import { lastWords, takenPortHint } from "../../manager/last_words.ts";
import type { Handlers } from "./context.ts";

export const WHY_ACTIONS: Handlers<"why"> = {
  async why({ supervisor }, { target }) {
    const info = supervisor.inspect(target);
    const process = supervisor.registry.resolve(info.id)[0]!;
    // If the app was restarted, the output of the previous run explains why.
    const runs = info.state === "running" ? "all" : "last";
    const { errorLine, lastOutput } = await lastWords(process, { runs });
    const run = runWithError(info);
    const error = run === "before"
      ? (await lastWords(process, { runs: run })).errorLine
      : errorLine;
    const isOff = supervisor.scheduler.list([process]).some(({ enabled }) => !enabled);
    const port = takenPortHint(process, { errorLine: error, lastOutput });
    return {
      process: processJson(info),
      reasons: reasonsOf(info, Date.now(), { problem: lastProblem(info, process), isOff }),
      ...run !== undefined && error !== undefined && { error_line: error },
      last_output: lastOutput,
      hints: hintsOf(info, { port, isOff }),
    };
  },
};

/**
 * The run whose error explains the state: the last one, or the failed run before it. Undefined if
 * the process is well or was stopped on purpose. Pure.
 */
export function runWithError(
  { state, health, pid, restarts, lastExit, config }: ProcessInfo,
): "last" | "before" | undefined {
  if (state === "crashed" || state === "errored" || state === "waiting") return "last";
  if (pid === 0 || state === "stopping") return undefined;
  if (state === "running" && health === "unhealthy") return "last";
  const failed = lastExit !== null && !isSuccess(lastExit, config) &&
    lastExit.signal !== config.stopSignal;
  if (restarts > 0 && failed) return "before";
  return state === "starting" ? "last" : undefined;
}

/** The problem of the newest health check; if unhealthy, of the last failed check. */
function lastProblem({ health }: ProcessInfo, { journal: { checks } }: ManagedProcess): string {
  const check = health === "unhealthy"
    ? checks.findLast(({ problem }) => problem !== "")
    : checks.at(-1);
  return check?.problem ?? "";
}

/** Sentences about the state of a process, the most important first. `isOff`: its schedule. Pure. */
export function reasonsOf(
  info: ProcessInfo,
  now: number,
  { problem = "", isOff = false } = {},
): string[] {
  const reasons = [headline(info)];
  const check = checkReason(info, problem);
  if (check !== undefined) reasons.push(check);
  if (info.nextRestartAt !== null) {
    reasons.push(`starts again in ${rounded(Math.max(0, info.nextRestartAt.getTime() - now))}`);
  }
  if (info.state === "crashed" && info.config.restartPolicy === "never") {
    reasons.push("stays down: restart_policy is never");
  }
  const { cron } = info.config;
  if (cron !== undefined && info.state !== "running") {
    const what = isOff
      ? "does not start by itself, its schedule is off"
      : "starts only on schedule";
    reasons.push(`${what}: ${cron.schedule}`);
  }
  if (info.restarts > 0) {
    const { maxRestarts, restartWindowMs } = info.config;
    reasons.push(
      `restarted ${
        info.restarts === 1 ? "once" : `${info.restarts} times`
      }; limit: ${maxRestarts} within ${formatDuration(restartWindowMs)}`,
    );
  }
  return reasons;
}

/** The state of a process's checks. `problem` is the problem of the last check, or empty. */
function checkReason(
  { state, health, ready, config, lastReason }: ProcessInfo,
  problem: string,
): string | undefined {
  const answer = problem === "" ? "" : `: ${problem}`;
  if (state === "running" && health === "unhealthy") return `unhealthy${answer}`;
  if (state === "starting" && wantsReadiness(config)) {
    const last = problem === "" ? "" : `; the last check: ${problem}`;
    return `not ready yet, waits for ${readySign(config)}${last}`;
  }
  if (state !== "running") return undefined;
  if (!ready) return `not ready${answer}`;
  return problem === "" || lastReason.endsWith(problem)
    ? undefined
    : `the last health check failed: ${problem}`;
}

function headline(info: ProcessInfo): string {
  const { name, state, pid, restarts, lastReason, lastExit, uptimeMs } = info;
  if (state !== "running") return `${name} is ${state}${lastReason ? `: ${lastReason}` : ""}`;
  // Restarts by watch, cron or a user are not counted.
  const again = (restarts > 0 || lastExit !== null) && lastReason !== ""
    ? `, started again: ${lastReason}`
    : "";
  const who = pid > 0 ? ` as pid ${pid}` : "";
  return `${name} is running, up for ${rounded(uptimeMs)}${who}${again}`;
}

/** Commands to run next, the most useful first. Pure. */
export function hintsOf(
  { name, state, config, lastExit }: ProcessInfo,
  { port, isOff = false }: { readonly port?: string | undefined; readonly isOff?: boolean } = {},
): string[] {
  if (state === "running") {
    const before = lastExit === null ? [] : [`procsup events ${name} --since 24h`];
    return [`procsup logs ${name} -f`, ...before];
  }
  const logs = [...(port === undefined ? [] : [port]), `procsup logs ${name} -n 50`];
  if (config.cron === undefined) return [...logs, `procsup restart ${name}`];
  return [
    ...(state === "stopped" ? [`procsup cron history ${name}`] : logs),
    `procsup cron ${isOff ? "start" : "run"} ${name}`,
  ];
}

function rounded(ms: number): string {
  return formatDuration(ms < 1000 ? Math.round(ms) : Math.round(ms / 1000) * 1000);
}
