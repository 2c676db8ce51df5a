/** Checks a run's health, one check at a time: a target that hangs does not pile up checks. */

import { formatDuration } from "../model/duration.ts";
import { messageOf } from "../model/errors.ts";
import { delayAfter, type HealthRecord, judge, UNKNOWN_HEALTH } from "../model/health.ts";
import { isReadyByHealth } from "../model/transition_steps.ts";
import type { HealthCheckConfig } from "../model/process_config.ts";
import { signalOfAction } from "../model/signal.ts";
import { type Cancel, timeoutSignal } from "../platform/clock.ts";
import { isLack } from "../platform/lack.ts";
import { NotMet } from "../platform/launch/run_connection.ts";
import { probeHttp, type ProbeOptions, probeTcp } from "../platform/sockets/probe.ts";
import { runShell } from "../platform/launch/shell.ts";
import { runHook } from "./hooks.ts";
import type { HealthCheckRun } from "./journal.ts";
import { sharedSockets } from "./launch_setup.ts";
import type { Monitor, RunView } from "./run_view.ts";

/** `PROCSUP_EVENT` of a check by command. */
export const HEALTH_CHECK_EVENT = "healthcheck";

/** Pause after a check that did not meet the run. */
const UNMET_DELAY_MS = 500;

/** Checks until it is stopped; from the start if that is what makes it ready, otherwise once it is. */
export class HealthMonitor implements Monitor {
  readonly #process: RunView;
  readonly #config: HealthCheckConfig;
  readonly #abort = new AbortController();
  #record: HealthRecord = UNKNOWN_HEALTH;
  #isChecking = false;
  #cancel: Cancel = () => {};
  /** The post_healthcheck hook in progress. */
  #posting: Promise<void> | undefined;
  /** Whether the machine refused the last check. */
  #refused = false;
  /** Begin of the first of the checks, up to the last one, that did not meet the run; steady. */
  #unmetSince: number | undefined;
  /** Checks since the run was ready. */
  #checks: number;

  constructor(process: RunView, config: HealthCheckConfig) {
    this.#process = process;
    this.#config = config;
    this.#checks = process.isAdopted && process.isReady ? Infinity : 0;
    void this.#begin();
  }

  get record(): HealthRecord {
    return { ...this.#record, isChecking: this.#isChecking || this.#unmetSince !== undefined };
  }

  stop(): void {
    this.#cancel();
    this.#abort.abort();
  }

  async #begin(): Promise<void> {
    if (!isReadyByHealth(this.#process.config)) {
      const { signal } = this.#abort;
      await this.#process.untilReady(signal).catch(() => {});
      if (signal.aborted) return;
    }
    await this.#check();
  }

  async #check(): Promise<void> {
    this.#isChecking = true;
    await this.#hook("preHealthCheck");
    const { clock } = this.#process.world;
    const [at, startedAt] = [clock.now(), clock.steady()];
    let isUnknown = false;
    try {
      const problem = await probe(this.#config, this.#process, this.#abort.signal) ?? "";
      // The app may say anything, also in its answer to a check.
      const { hide = String } = this.#process.hookContext();
      this.#unmetSince = undefined;
      this.#over({ at, latencyMs: clock.steady() - startedAt, problem: hide(problem) });
    } catch (error) {
      const latencyMs = clock.steady() - startedAt;
      const problem = `check cannot run: ${messageOf(error)}`;
      // A lack of resources says nothing about the app.
      if (isLack(error)) this.#lacks(problem);
      else if (error instanceof NotMet) {
        isUnknown = this.#unmet({ at, latencyMs, problem: error.message }, startedAt);
      } else this.#over({ at, latencyMs, problem });
    }
    this.#isChecking = false;
    if (this.#abort.signal.aborted) return;
    const delay = delayAfter(this.#checks, this.#config);
    if (this.#process.isReady && !isUnknown) this.#checks++;
    const ms = isUnknown ? Math.min(delay, UNMET_DELAY_MS) : delay;
    this.#cancel = clock.after(ms, () => void this.#check());
  }

  /**
   * Other instances took every connection. Returns whether that says nothing: the neighbours of a run
   * that hangs take all of them, too, but not by chance for as long as it may take to become ready.
   */
  #unmet(run: HealthCheckRun, startedAt: number): boolean {
    const { isReady, config: { listenTimeoutMs } } = this.#process;
    this.#unmetSince ??= startedAt;
    const isLong = startedAt + run.latencyMs - this.#unmetSince >= listenTimeoutMs;
    if (isReady && !isLong) return true;
    const duration = isLong ? ` for ${formatDuration(listenTimeoutMs)}` : "";
    this.#over({ ...run, problem: run.problem + duration });
    return !isLong;
  }

  #lacks(problem: string): void {
    if (!this.#refused) this.#process.note(problem);
    this.#refused = true;
  }

  #over(run: HealthCheckRun): void {
    if (this.#abort.signal.aborted) return;
    this.#refused = false;
    this.#process.journal.checked(run);
    // Hooks that hang must not pile up either.
    this.#posting ??= this.#hook("postHealthCheck").finally(() => this.#posting = undefined);
    this.#answered(run.problem);
  }

  #answered(problem: string): void {
    const process = this.#process;
    if (!process.isReady) {
      // Before it is ready, a failed check does not make it unhealthy; the readiness timeout is the limit.
      if (problem !== "") return;
      process.post({ type: "became_ready", attempt: process.attempt });
      if (!process.isReady) return;
    }
    const before = this.#record.health;
    this.#record = judge(this.#record, problem === "", process.uptimeMs, this.#config);
    const { health } = this.#record;
    if (health === before || health === "unknown") return;
    process.healthChanged(health, problem);
    if (health === "unhealthy") this.#treat(problem);
  }

  #treat(problem: string): void {
    const { onFailure } = this.#config;
    const { attempt } = this.#process;
    if (onFailure === "restart") {
      const reason = `unhealthy: ${problem}`;
      this.#process.post({ type: "recycle_requested", attempt, reason, cause: "health" });
    }
    const signal = signalOfAction(onFailure);
    if (signal !== undefined) this.#process.signal(signal);
  }

  async #hook(hook: "preHealthCheck" | "postHealthCheck"): Promise<void> {
    const config = this.#process.config.hooks[hook];
    if (config === undefined) return;
    const problem = await runHook(hook, config, this.#process.hookContext(), {
      signal: this.#abort.signal,
    });
    if (problem !== undefined) this.#process.note(problem);
  }
}

/** One check. Resolves with what is wrong, or undefined. */
async function probe(
  config: HealthCheckConfig,
  process: RunView,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { timeoutMs } = config;
  switch (config.type) {
    case "http":
      return await probeHttp(
        { ...config, url: config.url! },
        toRun(process, { timeoutMs, signal }),
      );
    case "tcp":
      return await probeTcp(config.tcpEndpoint!, toRun(process, { timeoutMs, signal }));
    case "command": {
      const { cwd, env, user, prepare } = process.hookContext();
      await prepare?.();
      const around = { cwd, user: user(), timeoutMs, signal };
      const result = await runShell({
        command: config.command!,
        ...around,
        // The next daemon ends a check that this one leaves behind.
        env: {
          ...env(),
          PROCSUP_EVENT: HEALTH_CHECK_EVENT,
          PROCSUP_PID: String(await process.pid),
        },
      });
      if (result.code === 0) return undefined;
      return result.ended === "timeout"
        ? `check did not end within ${timeoutMs} ms`
        : `check ended with code ${result.code}`;
    }
  }
}

/** Time to reach the run among its neighbours, however late it is. */
const LEAST_CONNECT_MS = 500;

/** Probes the run itself: its neighbours on a shared socket may be well when it is not. */
function toRun(process: RunView, limits: Omit<ProbeOptions, "connect">): ProbeOptions {
  const { config, run, world, isReady } = process;
  const shared = new Set(sharedSockets(config)?.addresses.map(({ port }) => port));
  // Who answers instead must be known before the readiness timeout, which reports it.
  const left = (config.listenTimeoutMs - process.watchedMs) / 2;
  const ms = isReady ? Infinity : Math.max(LEAST_CONNECT_MS, left);
  const connect: ProbeOptions["connect"] = (address, signal) => {
    const limit = AbortSignal.any([signal, timeoutSignal(ms)]);
    return world.connect({ run, address, isShared: shared.has(address.port) }, limit);
  };
  return { ...limits, connect, isShared: shared.size > 0 };
}
