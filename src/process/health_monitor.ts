/** Checks a run's health, one check at a time: a target that hangs does not pile up checks. */

import { messageOf } from "../model/errors.ts";
import { type HealthRecord, judge, UNKNOWN_HEALTH } from "../model/health.ts";
import { isReadyByHealth } from "../model/transition_steps.ts";
import { type ListenAddress, withoutBrackets } from "../model/listen_address.ts";
import type { HealthCheckConfig } from "../model/process_config.ts";
import { parseSignal } from "../model/signal.ts";
import { type Cancel, timeoutSignal } from "../platform/clock.ts";
import { isLack } from "../platform/lack.ts";
import { accepts, mayBelongTo } from "../platform/listening_ports.ts";
import { probeHttp, probeTcp } from "../platform/direct_http.ts";
import { runShell } from "../platform/shell.ts";
import { runHook } from "./hooks.ts";
import type { HealthCheckRun } from "./journal.ts";
import { sharedSockets } from "./launch_setup.ts";
import type { Monitor, MonitoredRun } from "./monitor.ts";

/** Interval of checks until a process is ready. */
const READINESS_INTERVAL_MS = 200;

/** `PROCSUP_EVENT` of a check by command. */
export const HEALTH_CHECK_EVENT = "healthcheck";

/** Checks until it is stopped; from the start if that is what makes it ready, otherwise once it is. */
export class HealthMonitor implements Monitor {
  readonly #process: MonitoredRun;
  readonly #config: HealthCheckConfig;
  readonly #abort = new AbortController();
  #record: HealthRecord = UNKNOWN_HEALTH;
  #cancel: Cancel = () => {};
  /** The post_healthcheck hook in progress. */
  #posting: Promise<void> | undefined;
  /** Whether the machine refused the last check. */
  #refused = false;

  constructor(process: MonitoredRun, config: HealthCheckConfig) {
    this.#process = process;
    this.#config = config;
    void this.#begin();
  }

  get record(): HealthRecord {
    return this.#record;
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
    await this.#hook("preHealthCheck");
    const { clock } = this.#process.world;
    const [at, startedAt] = [clock.now(), clock.steady()];
    try {
      const problem = await probe(this.#config, this.#process, this.#abort.signal);
      this.#over({ at, latencyMs: clock.steady() - startedAt, problem: problem ?? "" });
    } catch (error) {
      const problem = `check cannot run: ${messageOf(error)}`;
      // A lack of resources says nothing about the app.
      if (isLack(error)) this.#lacks(problem);
      else this.#over({ at, latencyMs: clock.steady() - startedAt, problem });
    }
    if (this.#abort.signal.aborted) return;
    const interval = this.#process.snapshot.ready
      ? this.#config.intervalMs
      : Math.min(this.#config.intervalMs, READINESS_INTERVAL_MS);
    this.#cancel = clock.after(interval, () => void this.#check());
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
    if (!process.snapshot.ready) {
      // Before it is ready, a failed check does not make it unhealthy; the readiness timeout is the limit.
      if (problem !== "") return;
      process.post({ type: "became_ready", attempt: process.attempt });
      if (!process.snapshot.ready) return;
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
      this.#process.post({ type: "recycle_requested", attempt, reason: `unhealthy: ${problem}` });
    } else if (onFailure.startsWith("signal:")) {
      this.#process.signal(parseSignal(onFailure.slice("signal:".length)));
    }
  }

  async #hook(hook: "preHealthCheck" | "postHealthCheck"): Promise<void> {
    const config = this.#process.config.hooks[hook];
    if (config === undefined) return;
    const problem = await runHook(hook, config, this.#process.hookContext(), this.#abort.signal);
    if (problem !== undefined) this.#process.note(problem);
  }
}

/** One check. Resolves with what is wrong, or undefined. */
async function probe(
  config: HealthCheckConfig,
  process: MonitoredRun,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { timeoutMs } = config;
  switch (config.type) {
    case "http":
      return await probeHttp(config.url!, timeoutMs, signal) ??
        await othersPort(addressOf(config.url!), process, timeoutMs, signal);
    case "tcp":
      return await probeTcp(config.tcpEndpoint!, timeoutMs, signal) ??
        await othersPort(addressOf(`tcp://${config.tcpEndpoint!}`), process, timeoutMs, signal);
    case "command": {
      const { cwd, env, user, prepare } = process.hookContext();
      await prepare?.();
      const around = { cwd, user: user(), timeoutMs, signal };
      const result = await runShell({
        command: config.command!,
        ...around,
        // The next daemon ends a check that this one leaves behind.
        env: { ...env(), PROCSUP_EVENT: HEALTH_CHECK_EVENT },
      });
      if (result.code === 0) return undefined;
      return result.ended === "timeout"
        ? `check did not end within ${timeoutMs} ms`
        : `check ended with code ${result.code}`;
    }
  }
}

/** The problem if what answers before the process is ready is not the process itself. */
async function othersPort(
  address: ListenAddress,
  { snapshot, run, config }: MonitoredRun,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (snapshot.ready) return undefined;
  const shared = sharedSockets(config)?.addresses ?? [];
  if (shared.every(({ port }) => port !== address.port)) {
    if (mayBelongTo(address, run.wrapperPid)) return undefined;
    return `port ${address.port} is held by another process`;
  }
  const either = AbortSignal.any([timeoutSignal(timeoutMs), signal]);
  if (await accepts(address, run.wrapperPid, either)) return undefined;
  return `port ${address.port} is answered by another instance`;
}

function addressOf(url: string): ListenAddress {
  const { hostname, port, protocol } = new URL(url);
  return {
    hostname: withoutBrackets(hostname),
    port: port === "" ? (protocol === "https:" ? 443 : 80) : Number(port),
  };
}
