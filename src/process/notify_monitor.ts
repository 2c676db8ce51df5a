/** Acts on what an app reports to its notify socket: its watchdog, its reloads, its own end. */

import { formatDuration } from "../model/duration.ts";
import type { Notice } from "../model/notice.ts";
import type { Cancel } from "../platform/clock.ts";
import type { NoticeSource } from "../platform/launch/notice_log.ts";
import type { Monitor, RunView } from "./run_view.ts";

export class NotifyMonitor implements Monitor {
  readonly #process: RunView;
  readonly #notices: NoticeSource;
  readonly #over = new AbortController();
  readonly #cancelListening: Cancel;
  #cancelTimer: Cancel = () => {};
  /**
   * When the app last gave a sign of life, in steady milliseconds. The first interval begins with
   * this monitor, as no sign was read while no daemon ran.
   */
  #aliveAt: number;
  /** True until a new main process has sent its first sign: it may not have the socket. */
  #isSilent = false;

  constructor(process: RunView, notices: NoticeSource) {
    this.#process = process;
    this.#notices = notices;
    this.#aliveAt = process.world.clock.steady();
    this.#cancelListening = notices.listen((notice) => this.#take(notice));
    const { isReloading, isReady, isStopping } = notices.now;
    // A reload that the last daemon began may have ended meanwhile.
    if (isReloading || isReady) this.#post(isReloading ? "reloading" : "reloaded");
    if (isStopping) this.#expectEnd();
    else this.#watchOnceReady();
  }

  stop(): void {
    this.#over.abort();
    this.#cancelListening();
    this.#cancelTimer();
  }

  get #intervalMs(): number {
    return this.#notices.now.watchdogMs ?? this.#process.config.watchdogMs ?? 0;
  }

  #take(notice: Notice): void {
    switch (notice.type) {
      case "alive":
        this.#aliveAt = this.#process.world.clock.steady();
        if (this.#isSilent) this.#watchOnceReady();
        return;
      case "hung":
        return this.#hung("said WATCHDOG=trigger");
      case "new_main":
      case "watchdog":
        this.#aliveAt = this.#process.world.clock.steady();
        return this.#watchOnceReady();
      case "ready":
        return this.#post("reloaded");
      case "reloading":
        return this.#post("reloading");
      case "stopping":
        return this.#expectEnd();
    }
  }

  #post(type: "reloading" | "reloaded"): void {
    this.#process.post({ type, attempt: this.#process.attempt });
  }

  #hung(reason: string): void {
    this.#process.post({ type: "hung", attempt: this.#process.attempt, reason });
  }

  /** An app that starts may not send any sign yet. */
  #watchOnceReady(): void {
    this.#isSilent = this.#notices.now.isNewMain;
    // Its end is awaited by the same timer.
    if (this.#notices.now.isStopping) return;
    this.#cancelTimer();
    if (this.#intervalMs === 0) return;
    this.#process.untilReady(this.#over.signal).then(
      () => {
        this.#aliveAt = this.#process.world.clock.steady();
        this.#arm();
      },
      () => {},
    );
  }

  #arm(): void {
    const { clock } = this.#process.world;
    const intervalMs = this.#intervalMs;
    const { isNewMain, isStopping } = this.#notices.now;
    if (this.#over.signal.aborted || intervalMs === 0 || isNewMain || isStopping) return;
    this.#cancelTimer();
    const left = intervalMs - (clock.steady() - this.#aliveAt);
    if (left <= 0 && !this.#notices.isRead()) {
      return this.#process.note("its NOTIFY_SOCKET is not read any more: its watchdog is off");
    }
    if (left <= 0) return this.#hung(`no WATCHDOG=1 for ${formatDuration(intervalMs)}`);
    this.#cancelTimer = clock.after(left, () => {
      // This daemon may have been too busy, or suspended, to take note of the last sign.
      this.#notices.look();
      this.#arm();
    });
  }

  /** The app ends by itself, and its watchdog with it. */
  #expectEnd(): void {
    const { clock } = this.#process.world;
    const { stopTimeoutMs } = this.#process.config;
    this.#cancelTimer();
    this.#cancelTimer = clock.after(stopTimeoutMs, () => {
      this.#hung(`said STOPPING=1 and did not end within ${formatDuration(stopTimeoutMs)}`);
    });
  }
}
