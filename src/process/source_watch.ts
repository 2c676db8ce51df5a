/**
 * Watches the sources of a process, while it runs and after it has failed. After a change it
 * restarts or reloads the process, sends it a signal, or runs a command.
 */

import { isLoop, LOOP_RESTARTS } from "../model/restart_budget.ts";
import type { Snapshot } from "../model/process_state.ts";
import { ifPossible } from "../model/errors.ts";
import type { HookConfig } from "../model/process_config.ts";
import { signalOfAction } from "../model/signal.ts";
import { dirname } from "@std/path";
import { appUser } from "../platform/users/app_user.ts";
import type { Monitor } from "./run_view.ts";
import type { ProcessActor } from "./process_actor.ts";
import type { ProcessHooks } from "./process_hooks.ts";
import type { RunController } from "./run_controller.ts";
import { watchFiles } from "./watch/file_watch.ts";

export class SourceWatch implements Monitor {
  readonly #process: ProcessActor;
  readonly #run: RunController;
  readonly #hooks: ProcessHooks;
  /** The attempt, whether it has ended, and the time of the last action: a change begins a new watch. */
  #watched: string | undefined;
  #watch: Monitor | undefined;
  /** True until the first snapshot was seen: it may be what an earlier daemon left. */
  #isFirst = true;
  #isCommandRunning = false;

  constructor(process: ProcessActor, run: RunController, hooks: ProcessHooks) {
    this.#process = process;
    this.#run = run;
    this.#hooks = hooks;
  }

  /** Starts or stops watching, as a snapshot demands. */
  follow(now: Snapshot): void {
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    const watched = this.#isWatched(now)
      ? `${now.attempt} ${now.run === null} ${now.watchedUntil}`
      : undefined;
    if (watched === this.#watched) return;
    this.stop();
    this.#watched = watched;
    if (watched !== undefined) this.#watch = this.#begin(now, isFirst);
  }

  stop(): void {
    this.#watch?.stop();
    this.#watch = undefined;
  }

  #isWatched({ state, run, watchRestarts, awaiting, desired, ...now }: Snapshot): boolean {
    const { watch, cron } = this.#process.config;
    if (!watch?.enabled || isLoop(watchRestarts)) return false;
    const { pending, requests } = now;
    // They begin a watch of their own once they are over.
    const isReplaced = ({ verb }: { readonly verb: string }) =>
      verb === "restart" || (verb === "reload" && watch.action === "reload");
    if ((pending !== null && isReplaced(pending)) || requests.some(isReplaced)) return false;
    if (run !== null) return state === "running" || state === "starting";
    // What made it fail may be mended now. A job waits for its schedule.
    const hasFailed = state === "crashed" || state === "errored" ||
      (state === "waiting" && awaiting === "delay");
    return hasFailed && desired === "up" && cron === undefined;
  }

  #begin(
    { attempt, startedAt, finishedAt, run, watchedUntil }: Snapshot,
    isFirst: boolean,
  ): Monitor {
    const { config } = this.#process;
    const { world } = this.#process.machine;
    const now = world.clock.now();
    const since = run === null && isFirst ? Math.max(0, now - (finishedAt ?? now)) : undefined;
    return watchFiles({
      cwd: config.cwd,
      ...config.watch!,
      own: [dirname(world.apps)],
      user: ifPossible(() => appUser(config)),
      // Earlier changes were acted on, maybe under an earlier daemon.
      upForMs: Math.min(
        since ?? this.#run.uptimeMs,
        sinceAction(watchedUntil, now),
      ),
    }, {
      changed: (path) => this.#changed(path, attempt, startedAt),
      problem: (message) => this.#process.note(message),
    });
  }

  #changed(path: string, attempt: number, startedAt: number | null): void {
    const { config, machine } = this.#process;
    // Not once the supervisor shuts down.
    if (ifPossible(() => (machine.refuseClosed(), true)) === undefined) return;
    const { action, command } = config.watch!;
    if (this.#isCommandRunning) return;
    if (this.#isLoop(attempt, startedAt)) {
      return this.#process.note(
        `watching is paused until the next restart: ${LOOP_RESTARTS} changes in a row came right ` +
          `after a start or an action, "${path}" changed last. If the app or the action writes it, ` +
          "add it to watch.ignore",
      );
    }
    const reason = `file changed: ${path}`;
    if (action === "command") {
      this.#process.note(`${reason}, the watch command runs`);
      return void this.#runCommand(command!);
    }
    // One that has failed can only be started again.
    const isUp = this.#process.snapshot.run !== null;
    const signal = isUp ? signalOfAction(action) : undefined;
    if (signal !== undefined) {
      const isSent = this.#run.signal(signal);
      this.#process.note(
        `${reason}, ${signal} is ${isSent ? "sent" : "not sent: it has no process"}`,
      );
      return this.#over();
    }
    const verb = isUp && action === "reload" ? "reload" : "restart";
    if (verb === "reload") {
      this.#process.note(`${reason}, it is reloaded`);
      // A reload may fail, or leave the run alive.
      this.#over();
    }
    this.#request(verb, reason);
  }

  /** Counts a change. True if it is one of too many that each came right after the last action. */
  #isLoop(attempt: number, startedAt: number | null): boolean {
    const at = this.#process.machine.world.clock.now();
    const upForMs = Math.min(
      this.#run.uptimeMs || Math.max(0, at - (startedAt ?? at)),
      sinceAction(this.#process.snapshot.watchedUntil, at),
    );
    this.#process.post({ type: "file_changed", attempt, at, upForMs });
    return isLoop(this.#process.snapshot.watchRestarts);
  }

  #request(verb: "restart" | "reload", reason: string): void {
    const unchanged = verb === "reload" && { unchanged: true } as const;
    const request = { verb, reason, cause: "watch", ...unchanged } as const;
    this.#process.post({ type: "replace_requested", request });
    const isOver = ({ requests }: Snapshot) => !requests.some((one) => one === request);
    this.#process.until(isOver, this.#process.gone).then(({ requestFailed: failed }) => {
      if (failed !== null) this.#process.note(`${reason}, but it cannot ${verb}: ${failed.why}`);
    }, () => {});
  }

  /** Changes while the command runs do not count: it may make them. */
  async #runCommand(command: HookConfig): Promise<void> {
    this.#isCommandRunning = true;
    await this.#hooks.runCommand("watch", command);
    this.#isCommandRunning = false;
    this.#over();
  }

  /** If the run lives on, the next watch begins with what changes from now on. */
  #over(): void {
    const { attempt } = this.#process.snapshot;
    const at = this.#process.machine.world.clock.now();
    this.#process.post({ type: "file_changed", attempt, at, upForMs: 0, isOver: true });
  }
}

/** Milliseconds since the last action on a change; Infinity if there was none. */
function sinceAction(watchedUntil: number | null, now: number): number {
  return watchedUntil === null ? Infinity : Math.max(0, now - watchedUntil);
}
