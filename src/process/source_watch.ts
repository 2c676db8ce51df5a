/** Restart on change: watches the sources of a process, while it runs and after it has failed. */

import { isLoop, LOOP_RESTARTS } from "../model/restart_budget.ts";
import type { Snapshot } from "../model/process_state.ts";
import { ifPossible } from "../model/errors.ts";
import { dirname } from "@std/path";
import { appUser } from "../platform/users/app_user.ts";
import type { Monitor } from "./run_view.ts";
import type { ProcessActor } from "./process_actor.ts";
import type { RunController } from "./run_controller.ts";
import { watchFiles } from "./watch/file_watch.ts";

export class SourceWatch implements Monitor {
  readonly #process: ProcessActor;
  readonly #run: RunController;
  /** What is watched: an attempt and whether it has ended. Each begins a watch of its own. */
  #watched: string | undefined;
  #watch: Monitor | undefined;
  /** True until the first snapshot was seen: it may be what an earlier daemon left. */
  #isFirst = true;

  constructor(process: ProcessActor, run: RunController) {
    this.#process = process;
    this.#run = run;
  }

  /** Starts or stops watching, as a snapshot demands. */
  follow(now: Snapshot): void {
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    const watched = this.#isWatched(now) ? `${now.attempt} ${now.run === null}` : undefined;
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
    if (pending?.verb === "restart" || requests.some(({ verb }) => verb === "restart")) {
      return false;
    }
    if (run !== null) return state === "running" || state === "starting";
    // What made it fail may be mended now. A job waits for its schedule.
    const hasFailed = state === "crashed" || state === "errored" ||
      (state === "waiting" && awaiting === "delay");
    return hasFailed && desired === "up" && cron === undefined;
  }

  #begin({ attempt, startedAt, finishedAt, run }: Snapshot, isFirst: boolean): Monitor {
    const { config } = this.#process;
    const { world } = this.#process.machine;
    const now = world.clock.now();
    const since = run === null && isFirst ? Math.max(0, now - (finishedAt ?? now)) : undefined;
    return watchFiles({
      cwd: config.cwd,
      ...config.watch!,
      own: [dirname(world.apps)],
      user: ifPossible(() => appUser(config)),
      upForMs: since ?? this.#run.uptimeMs,
    }, {
      changed: (path) => {
        const at = world.clock.now();
        const upForMs = this.#run.uptimeMs || Math.max(0, at - (startedAt ?? at));
        this.#process.post({ type: "file_changed", attempt, at, upForMs });
        if (!isLoop(this.#process.snapshot.watchRestarts)) {
          return this.#restart(`file changed: ${path}`);
        }
        this.#process.note(
          `watching is paused until the next restart: ${LOOP_RESTARTS} restarts in a row came ` +
            `right after a start, "${path}" changed last. If the app writes it, add it to ` +
            "watch.ignore",
        );
      },
      problem: (message) => this.#process.note(message),
    });
  }

  /** Not once the supervisor shuts down. */
  #restart(reason: string): void {
    try {
      this.#process.machine.refuseClosed();
    } catch {
      return;
    }
    const request = { verb: "restart", reason, cause: "watch" } as const;
    this.#process.post({ type: "replace_requested", request });
  }
}
