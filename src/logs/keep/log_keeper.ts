/**
 * Looks after the logs of all processes: records the times of new lines, rotates full logs and
 * removes old archives. A log is checked when it is written to, up to ten times a second. A silent
 * log is checked every 10 s; the log of a process at rest, when an archive becomes too old.
 */

import type { LogTrouble } from "../../model/log_line.ts";
import { messageOf, ProcsupError } from "../../model/errors.ts";
import { humanBytes } from "../../model/size.ts";
import { type Archive, pruneArchives } from "../write/archives.ts";
import { besideLog, readPosition, refuseForeignFolder } from "../write/log_position.ts";
import type { LogFiles } from "../write/log_files.ts";
import { disownLog, dropHead, flushLog, recoverLog, rotateLog } from "../write/rotate.ts";
import { trimMarks } from "../write/time_index.ts";
import { dirname } from "@std/path";
import { canCollapse } from "../../platform/files/collapse.ts";
import { type Cancel, type Clock, sleep } from "../../platform/clock.ts";
import { removeIfPossible } from "../../platform/files/atomic_file.ts";
import { FileWatch } from "../../platform/files/file_watch.ts";
import { sharedFileProblem } from "../../platform/files/way.ts";
import { CompressionQueue } from "./compression_queue.ts";
import { KeptLog, type LoggedProcess } from "./kept_log.ts";

/** Number of logs to check before yielding. */
const SLICE = 100;

/** Future rounds begin at multiples of this, so that each one checks many logs. */
const ROUND_MS = 25;

/** Maximum archives per rotation of a log, before other logs get their turn. */
const MAX_CUTS = 16;
const MAX_REFUSALS = 3;

/** Minimum interval of checks of a log at rest, and maximum interval with daily rotation. */
const REST_MS = 1000;
const DAILY_REST_MS = 60_000;

/** Time after which a problem that continues is logged again. */
const SAID_MS = 24 * 3_600_000;

/** Delay after a failed rotation, for example on a full disk. */
const RETRY_MS = 60_000;

const STREAMS = ["stdout", "stderr"] as const;

interface LogKeeperOptions {
  readonly clock: Clock;
  readonly list: () => readonly LoggedProcess[];
  readonly warn: (message: string) => void;
  /** Called when its app or another program did something to a log. */
  readonly troubled: (process: LoggedProcess, trouble: LogTrouble) => void;
}

/** Looks after the logs of one home. */
export class LogKeeper {
  readonly #options: LogKeeperOptions;
  readonly #logs = new Map<string, KeptLog>();
  readonly #compression = new CompressionQueue();
  /** Problems that were logged, with the time. */
  readonly #said = new Map<string, number>();
  #watch: FileWatch | undefined;
  #cancel: Cancel | undefined;
  /** Steady milliseconds of the next round. */
  #roundAt = Infinity;
  #round: Promise<void> | undefined;
  /** Runs rotations one at a time: they share one disk. */
  #rotations: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: LogKeeperOptions) {
    this.#options = options;
  }

  /** Begins with the logs of all processes, and completes interrupted rotations. */
  start(): void {
    for (const process of this.#options.list()) this.wake(process);
  }

  /** Call it when a process is launched: its logs are checked often again. */
  wake(process: LoggedProcess): void {
    if (this.#closed) return;
    for (const stream of STREAMS) {
      const path = process.logs[stream];
      const log = this.#logs.get(path) ?? this.#taken(path, stream, process);
      log.process = process;
      log.hurry();
      this.#logs.set(path, log);
    }
    this.#arm();
  }

  /** Moves the logs of a process to other paths by `act`, and looks after them there. */
  async move(process: LoggedProcess, act: () => void): Promise<void> {
    const logs = () => Object.values(process.logs).flatMap((path) => this.#logs.get(path) ?? []);
    while (logs().some(({ busy }) => busy)) await sleep(ROUND_MS);
    for (const log of logs()) {
      log.release();
      this.#logs.delete(log.path);
    }
    try {
      act();
    } finally {
      this.wake(process);
    }
  }

  #taken(path: string, stream: keyof LogFiles, process: LoggedProcess): KeptLog {
    const changed = (log: KeptLog) => {
      const { clock } = this.#options;
      log.notice(clock.steady(), clock.now());
      if (log.dueAt < this.#roundAt) this.#arm();
    };
    const watch = this.#watch ??= new FileWatch();
    return new KeptLog(path, { stream, process, watch, changed });
  }

  /** Empties the logs of a process and removes their archives. */
  async flush(process: LoggedProcess): Promise<void> {
    for (const stream of STREAMS) {
      // Its path now: scaling may have moved the logs while the other one was emptied.
      const path = process.logs[stream];
      await this.#changing(this.#logs.get(path), () => flushLog(path));
    }
  }

  /** Hides the lines of a deleted process from a later one of the same name. */
  async disown(process: LoggedProcess): Promise<void> {
    try {
      for (const stream of STREAMS) await disownLog(process.logs[stream]);
    } catch (error) {
      this.#options.warn(
        `Cannot hide the lines of the deleted "${process.name}": ${messageOf(error)}`,
      );
    }
  }

  /**
   * Forgets the logs of a deleted process: from then on nothing is written beside them, and a later
   * process of that name begins anew. Removes its line times beside logs outside of the home.
   * The position file stays: it hides the old lines from the next app with that log.
   */
  forget(process: LoggedProcess, others: readonly LoggedProcess[]): void {
    const shared = new Set(others.flatMap(({ logs }) => Object.values(logs)));
    for (const path of Object.values(process.logs)) {
      if (shared.has(path)) continue;
      for (const about of this.#said.keys()) {
        if (about === path || about.endsWith(` ${path}`)) this.#said.delete(about);
      }
      this.#logs.get(path)?.release();
      this.#logs.delete(path);
      if (path.startsWith(`${process.folder}/`)) continue;
      // Remove nothing if another user can replace the folder.
      if (sharedFileProblem(path) !== undefined) continue;
      removeIfPossible(besideLog(path, ".idx"));
    }
  }

  /** Stops all checks. Resolves when rotations and compression have ended. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancel?.();
    this.#cancel = undefined;
    await Promise.allSettled([this.#round, this.#rotations, this.#compression.close()]);
    for (const log of this.#logs.values()) log.release();
    this.#watch?.[Symbol.dispose]();
  }

  #arm(): void {
    if (this.#closed || this.#round !== undefined || this.#logs.size === 0) return;
    let dueAt = Infinity;
    for (const log of this.#logs.values()) if (!log.busy) dueAt = Math.min(dueAt, log.dueAt);
    const { clock } = this.#options;
    this.#cancel?.();
    const now = clock.steady();
    this.#roundAt = dueAt <= now ? now : Math.ceil(dueAt / ROUND_MS) * ROUND_MS;
    this.#cancel = clock.after(Math.ceil(this.#roundAt - now), () => {
      this.#cancel = undefined;
      this.#roundAt = Infinity;
      this.#round = this.#lookAround().finally(() => {
        this.#round = undefined;
        this.#arm();
      });
    });
  }

  async #lookAround(): Promise<void> {
    const { clock } = this.#options;
    let looks = 0;
    for (const log of [...this.#logs.values()]) {
      if (log.busy || log.dueAt > clock.steady() || this.#logs.get(log.path) !== log) continue;
      await this.#attempt(log, () => this.#lookAt(log));
      if (++looks % SLICE === 0) await sleep(0);
      if (this.#closed) return;
    }
  }

  #lookAt(log: KeptLog): Promise<void> | void {
    if (!log.recovered) return this.#takeUp(log);
    const { clock } = this.#options;
    log.look(clock.steady(), clock.now());
    if (log.trouble) {
      this.#options.troubled(log.process, log.trouble);
      log.trouble = undefined;
    }
    if (clock.now() > log.expiresAt) this.#prune(log);
    const isDue = log.isFull || clock.now() >= log.dayEndsAt;
    if (isDue && clock.steady() >= log.retryAt) {
      log.changes++;
      this.#rotations = this.#rotations
        .then(() => this.#attempt(log, () => this.#rotate(log)))
        .finally(() => {
          log.changes--;
          this.#arm();
        });
    } else if (log.isDone) this.#rest(log);
  }

  /** After the app has ended, only rotates daily and removes old archives. */
  #rest(log: KeptLog): void {
    const { clock, list } = this.#options;
    // Check again before the day ends: the machine may be suspended, or its clock set.
    const untilDay = log.dayEndsAt === Infinity ? Infinity : DAILY_REST_MS;
    const left = Math.min(log.expiresAt - clock.now(), log.dayEndsAt - clock.now(), untilDay);
    const isOver = left === Infinity || !list().includes(log.process);
    if (isOver) {
      this.#logs.delete(log.path);
      log.release();
    } else log.dueAt = clock.steady() + Math.max(left, REST_MS);
  }

  async #takeUp(log: KeptLog): Promise<void> {
    // It must not be moved meanwhile.
    log.changes++;
    try {
      log.refresh(await recoverLog(log.path));
    } finally {
      log.changes--;
    }
    log.recovered = true;
    const plain = this.#prune(log).filter(({ compressed }) => !compressed);
    for (const archive of plain) this.#compress(log, archive);
  }

  /** Cuts off archives one by one, until the log is no longer full. */
  async #rotate(log: KeptLog): Promise<void> {
    const { clock } = this.#options;
    for (let count = 0; count < MAX_CUTS && !this.#closed; count++) {
      const now = clock.now();
      const isDayOver = now >= log.dayEndsAt;
      if (!log.isFull && !isDayOver) return;
      const archive = await this.#changing(log, async () => {
        log.collapse ??= await this.#canCut(log);
        if (log.collapse) await this.#drop(log, now);
        const { maxSizeBytes } = log.process.config.log;
        // While nothing writes, truncation loses nothing, and it leaves no partial block.
        const { run, leftovers } = log.process.snapshot;
        const collapse = log.collapse && !(isDayOver && run === null && leftovers.length === 0);
        return await rotateLog(log.path, { maxSizeBytes, collapse, now });
      });
      if (isDayOver && !log.isFull) log.begunAt = now;
      if (archive === undefined) return isDayOver ? undefined : this.#refused(log);
      log.refusals = 0;
      this.#prune(log);
      this.#compress(log, archive);
      this.#said.delete(log.path);
    }
  }

  /** Drops what would be an archive too many by the time that all of a log is archived. */
  async #drop(log: KeptLog, now: number): Promise<void> {
    const { maxSizeBytes, maxFiles } = log.process.config.log;
    const kept = maxSizeBytes * (maxFiles + 1);
    if (log.size <= kept + maxSizeBytes) return;
    const bytes = await dropHead(log.path, kept, now);
    if (bytes === 0) return;
    this.#say(
      `dropped ${log.path}`,
      `"${log.path}" has grown beyond what log.max_size and log.max_files keep before it could be ` +
        `archived: its oldest ${humanBytes(bytes)} were dropped, and more may follow`,
    );
  }

  /** Removes archives that are too many or too old. Returns the others. */
  #prune(log: KeptLog): readonly Archive[] {
    const { path, process } = log;
    refuseForeignFolder(path);
    const { kept, removed } = pruneArchives(path, process.config.log, this.#options.clock.now());
    log.oldestAt = kept[0]?.at ?? Infinity;
    log.begunAt ??= kept.at(-1)?.at ?? log.bornAt;
    if (removed > 0) trimMarks(path, kept[0]?.start ?? readPosition(path).base, Infinity);
    return kept;
  }

  #compress(log: KeptLog, archive: Archive): void {
    if (log.process.config.log.compress) this.#compression.add(archive);
  }

  async #canCut(log: KeptLog): Promise<boolean> {
    const folder = dirname(log.path);
    if (await canCollapse(folder)) return true;
    this.#say(
      "truncate",
      `The file system of "${folder}" cannot cut the head off a file (ext4 and xfs can): logs are ` +
        "copied and truncated, and what is written in that moment is lost",
    );
    return false;
  }

  /** A cut may fail once if another program truncates the log; after several, logs are copied. */
  #refused(log: KeptLog): void {
    if (log.collapse !== true || ++log.refusals < MAX_REFUSALS) return;
    log.collapse = false;
    const what = `Cannot cut the head off "${log.path}": it is copied and truncated`;
    this.#say(`uncut ${log.path}`, what);
  }

  /** Runs a change of a log, then reads its state again. */
  async #changing<T>(log: KeptLog | undefined, act: () => Promise<T>): Promise<T> {
    if (log !== undefined) log.changes++;
    try {
      return await act();
    } finally {
      if (log !== undefined) {
        log.changes--;
        // Forgotten meanwhile, if its process was deleted.
        if (this.#logs.get(log.path) === log) {
          log.refresh();
          log.hurry();
          this.#arm();
        }
      }
    }
  }

  async #attempt(log: KeptLog, act: () => Promise<void> | void): Promise<void> {
    try {
      await act();
    } catch (error) {
      log.retryAt = this.#options.clock.steady() + RETRY_MS;
      log.dueAt = this.#options.clock.steady() + RETRY_MS / 10;
      const known = error instanceof ProcsupError;
      const cannot = known ? "" : `Cannot rotate "${log.path}", will try again: `;
      this.#say(log.path, `${cannot}${messageOf(error)}`);
    }
  }

  /** Logs a problem once a day, until it is solved. */
  #say(about: string, message: string): void {
    const now = this.#options.clock.now();
    for (const [known, at] of this.#said) if (now - at >= SAID_MS) this.#said.delete(known);
    if (this.#said.has(about)) return;
    this.#said.set(about, now);
    this.#options.warn(message);
  }
}
