/** The verbs that inspect processes, such as `list`, `why`, `history` and `metrics_history`. */

import { HOST } from "../../model/name.ts";
import { type Gap, plan, type Point } from "../../daemon/metrics_ring.ts";
import { hasCode, ProcsupError } from "../../model/errors.ts";
import { snakeCase } from "../../model/key_table.ts";
import { isNameOf } from "../../model/target.ts";
import { parseRange } from "../../model/time_spec.ts";
import type { HealthCheckRun, HookRun } from "../../process/journal.ts";
import { type ChangeJson, processJson, releaseJson } from "../../protocol/process_json.ts";
import type { INSPECT_VERBS } from "./rows.ts";
import type {
  AlertJson,
  HealthCheckJson,
  HookRunJson,
  Input,
  MetricsPointJson,
  Output,
} from "../../protocol/wire.ts";
import type { Handlers, VerbContext } from "../../daemon/verb_context.ts";
import { formatDuration } from "../../model/duration.ts";
import type { ProcessInfo } from "../../model/process_info.ts";
import { signalCode } from "../../model/signal.ts";
import { isSuccess, wantsReadiness } from "../../model/transition_steps.ts";
import type { ManagedProcess } from "../../process/managed_process.ts";
import {
  describeBackground,
  describeListener,
  foregroundAdvice,
} from "../../process/background.ts";
import type { Listener } from "../../platform/scan/listening_ports.ts";
import type { Background } from "../../platform/scan/process_group.ts";
import { readySign } from "../../process/readiness.ts";
import { lastWords, takenPortHint } from "../../manager/last_words.ts";
import { commandHint, type Hint } from "../../model/hint.ts";

export const INSPECT_HANDLERS: Handlers<keyof typeof INSPECT_VERBS> = {
  list: ({ supervisor }) => supervisor.list().map(processJson),
  status: ({ supervisor }, { target }) => processJson(supervisor.inspect(target)),
  history({ supervisor }, { target }) {
    const { name, id, journal } = supervisor.process(target);
    return {
      name,
      id: id.slice(0, 8),
      hooks: journal.hooks.map(hookJson),
      health: journal.checks.map(checkJson),
    };
  },
  releases: ({ supervisor }, { target }) => supervisor.releases(target).map(releaseJson),
  /** Explains in plain words why a process is in its state. */
  async why({ supervisor, alerts }, { target }) {
    const process = supervisor.process(target);
    const info = supervisor.info(process);
    // If the app was restarted, the output of the previous run explains why.
    const runs = info.state === "running" ? "all" : "last";
    const { errorLine, lastOutput } = await lastWords(process, { runs });
    const run = runWithError(info);
    const error = run === "before"
      ? (await lastWords(process, { runs: run })).errorLine
      : errorLine;
    const isOff = supervisor.scheduler.list([process]).some(({ enabled }) => !enabled);
    const app = supervisor.directory.appOf(process);
    const release = app.releases.findLast(({ undoes }) => undoes === undefined);
    const port = takenPortHint(process, { errorLine: error, lastOutput });
    return {
      process: processJson(info),
      reasons: reasonsOf(info, Date.now(), {
        problem: lastProblem(info, process),
        isOff,
        background: process.journal.background,
        listening: process.journal.listening,
        alerts: alerts.list().filter(({ name, state }) =>
          name === process.name && state === "firing"
        ),
      }),
      ...run !== undefined && error !== undefined && { error_line: error },
      last_output: lastOutput,
      ...release !== undefined && { last_release: releaseJson(release) },
      hints: [
        ...process.journal.background === undefined
          ? []
          : [{ text: foregroundAdvice(process.journal.background) }],
        ...hintsOf(info, { port, isOff }),
      ],
    };
  },
  events: pastEvents,
  /** Throws `timeout`, and `wrong_state` if a process is deleted meanwhile. */
  async wait({ supervisor }, { target, for: point, timeout }) {
    return (await supervisor.waitFor(target, point, { timeout })).map(processJson);
  },
  /** Throws `other_version` if a newer version wrote all that was requested. */
  async metrics_history({ supervisor, history }, { target, since, until = "now", points, fields }) {
    const now = Date.now();
    const { since: from = now, until: to = now } = parseRange({ since, until }, now);
    const names = target === undefined ? [HOST] : namesOf({ supervisor, history }, target);
    const most = Math.max(1, Math.floor(MAX_POINTS / names.length));
    const range = plan(from, to, Math.min(points, most), now);
    const series = [];
    let refused: ProcsupError | undefined;
    for (const name of names) {
      try {
        const found = await history.points(name, range);
        series.push({
          name: name === HOST ? null : name,
          points: found.map((point) => pointJson(point, fields)),
        });
      } catch (error) {
        // A file of a newer version must not hide the others.
        if (!(error instanceof ProcsupError)) throw error;
        refused = error;
      }
    }
    if (series.length === 0 && refused !== undefined) throw refused;
    return {
      since: new Date(range.since).toISOString(),
      until: new Date(Math.max(range.since, range.until)).toISOString(),
      step: range.step * 1e6,
      series,
      ...target === undefined && { gaps: (await history.gaps(from, to)).map(gapJson) },
    };
  },
};

function gapJson({ from, to }: Gap) {
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
}

function hookJson({ hook, at, durationMs, exitCode, timedOut, output }: HookRun): HookRunJson {
  return {
    at: new Date(at).toISOString(),
    hook: snakeCase(hook),
    ok: exitCode === 0,
    exit_code: exitCode,
    timed_out: timedOut,
    duration: Math.round(durationMs * 1e6),
    output,
  };
}

function checkJson({ at, latencyMs, problem }: HealthCheckRun): HealthCheckJson {
  return {
    at: new Date(at).toISOString(),
    ok: problem === "",
    message: problem,
    latency: Math.round(latencyMs * 1e6),
  };
}

/**
 * The last matching events, the oldest first. A target may name a deleted app. Throws `bad_request`,
 * `ambiguous_target` and `process_not_found`.
 */
export async function pastEvents(
  { supervisor, journal }: Pick<VerbContext, "supervisor" | "journal">,
  { target = "all", since, until, type, search = "", before, limit }: Input<"events">,
): Promise<Output<"events">> {
  const range = parseRange({ since, until }, Date.now());
  const { matches, unknown } = matcherFor(supervisor, target);
  const words = search.toLowerCase().split(/\s+/);
  const wanted = (event: ChangeJson) => {
    if (!matches(event) || (type !== undefined && event.type !== type)) return false;
    const text = `${event.name} ${event.type} ${event.reason}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const query = {
    since: range.since ?? -Infinity,
    until: range.until ?? Infinity,
    ...{ wanted, before },
  };
  const events: ChangeJson[] = [];
  let next = "";
  for await (const { event, place } of journal.newest(query)) {
    if (limit > 0 && events.length === limit) {
      return { events: events.reverse(), truncated: true, next };
    }
    events.push(event);
    next = place;
  }
  if (unknown !== undefined && events.length === 0 && !await isOnRecord(journal, matches)) {
    throw unknown;
  }
  return { events: events.reverse(), truncated: false };
}

/** Whether the journal has any of these events. */
async function isOnRecord(
  journal: VerbContext["journal"],
  wanted: (event: ChangeJson) => boolean,
): Promise<boolean> {
  const query = { since: -Infinity, until: Infinity };
  for await (const _ of journal.newest({ ...query, wanted })) return true;
  return false;
}

/** A test for the events of a target. With `unknown`, no such process exists, but one may have existed. */
function matcherFor(
  { directory }: VerbContext["supervisor"],
  target: string,
): { readonly matches: (event: ChangeJson) => boolean; readonly unknown?: ProcsupError } {
  try {
    return { matches: directory.matcher(target) };
  } catch (error) {
    if (!hasCode(error, "process_not_found")) throw error;
    return { matches: ({ name }) => isNameOf(target, name), unknown: error };
  }
}

/** Maximum number of points in an answer, to bound its memory. */
const MAX_POINTS = 100_000;

/** Names of the processes that match a target, and of deleted processes of that name. */
function namesOf(
  { supervisor, history }: Pick<VerbContext, "supervisor" | "history">,
  targets: string | readonly string[],
): readonly string[] {
  const kept = history.names();
  const found = [targets].flat().flatMap((target) => {
    if (target === "all") return kept;
    const deleted = kept.filter((name) => isNameOf(target, name));
    try {
      return [...supervisor.directory.resolve(target).map(({ name }) => name), ...deleted];
    } catch (error) {
      const isUnknown = hasCode(error, "process_not_found");
      if (!isUnknown || deleted.length === 0) throw error;
      return deleted;
    }
  });
  return [...new Set(found)];
}

function pointJson(
  { at, sample }: Point,
  fields: Input<"metrics_history">["fields"],
): MetricsPointJson {
  const figure = (value: number, digits = 0) =>
    Number.isNaN(value) ? null : Number(value.toFixed(digits));
  const figures = {
    cpu_percent: figure(sample.cpu, 1),
    cpu_percent_max: figure(sample.cpuMax, 1),
    memory_bytes: figure(sample.memory),
    memory_bytes_max: figure(sample.memoryMax),
    threads: figure(sample.threads, 1),
    fds: figure(sample.fds, 1),
    load: figure(sample.load, 2),
    restarts: sample.restarts,
    uptime: sample.uptime * 1e9,
    up: figure(sample.up, 3)!,
    healthy: figure(sample.health, 3),
  };
  const shown = fields?.map((field) => [field, figures[field]]);
  return { at: new Date(at).toISOString(), ...shown ? Object.fromEntries(shown) : figures };
}

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
    lastExit.signal !== config.stopSignal && lastExit.code !== signalCode(config.stopSignal);
  if (restarts > 0 && failed) return "before";
  return state === "starting" ? "last" : undefined;
}

/** The problem of the newest health check; if unhealthy, of the last failed one, and how many failed. */
function lastProblem({ health }: ProcessInfo, { journal: { checks } }: ManagedProcess): string {
  if (health !== "unhealthy") return checks.at(-1)?.problem ?? "";
  const failed = checks.filter(({ problem }) => problem !== "");
  const last = failed.at(-1);
  if (last === undefined) return "";
  return `${last.problem} · ${failed.length} of the last ${checks.length} checks failed`;
}

/** What decides the sentences about a process besides its state. */
interface Circumstances {
  readonly problem?: string | undefined;
  /** Whether its schedule is off. */
  readonly isOff?: boolean | undefined;
  readonly background?: Background | undefined;
  readonly listening?: readonly Listener[];
  /** The alerts that fire. */
  readonly alerts?: readonly Pick<AlertJson, "when" | "value" | "since">[];
}

/** Sentences about the state of a process, the most important first. Pure. */
export function reasonsOf(
  info: ProcessInfo,
  now: number,
  { problem = "", isOff = false, background, listening = [], alerts = [] }: Circumstances = {},
): string[] {
  const reasons = [headline(info)];
  if (background !== undefined) {
    reasons.push(`${describeBackground(background)}, which was ended`);
  }
  reasons.push(...listening.map(describeListener));
  if (info.statusText !== undefined) reasons.push(`its own status: ${info.statusText}`);
  if (info.logProblem !== undefined) reasons.push(info.logProblem);
  const check = checkReason(info, problem);
  if (check !== undefined) reasons.push(check);
  for (const { when, value, since } of alerts) {
    const age = since === null ? "" : ` for ${rounded(now - Date.parse(since))}`;
    reasons.push(`alert${age}: ${when}${value && `, it is ${value}`}`);
  }
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
  { port, isOff = false }: { readonly port?: Hint | undefined; readonly isOff?: boolean } = {},
): Hint[] {
  if (state === "running") {
    const before = lastExit === null ? [] : [commandHint("events", name, { since: "24h" })];
    return [commandHint("logs", name, { follow: true }), ...before];
  }
  const logs = [...(port === undefined ? [] : [port]), commandHint("logs", name, { lines: 50 })];
  if (config.cron === undefined) return [...logs, commandHint("restart", name)];
  return [
    ...(state === "stopped" ? [commandHint("cron history", name)] : logs),
    commandHint(isOff ? "cron start" : "cron run", name),
  ];
}

function rounded(ms: number): string {
  return formatDuration(ms < 1000 ? Math.round(ms) : Math.round(ms / 1000) * 1000);
}
