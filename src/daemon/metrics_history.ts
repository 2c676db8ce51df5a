/** Writes the resource usage of processes and the host to ring files, and reads it. Keeps nothing in memory. */

import type { Supervisor } from "../manager/supervisor.ts";
import { messageOf, ProcsupError } from "../model/errors.ts";
import { HOST } from "../model/name.ts";
import { type Cancel, type Clock, sleep } from "../platform/clock.ts";
import { HostMeter } from "../platform/host.ts";
import { lstatIfAny, namesIn } from "../platform/files/stat.ts";
import { setAside } from "../platform/files/state_file.ts";
import type { CpuMark, TreeUsage } from "../platform/scan/usage.ts";
import type { ManagedProcess } from "../process/managed_process.ts";
import {
  COARSE,
  decodeSlots,
  downsample,
  encodeHeader,
  encodeSlot,
  FINE,
  type Gap,
  gapsIn,
  HEADER_BYTES,
  type Plan,
  plan,
  type Point,
  readHeader,
  regions,
  type Sample,
  SLOT_BYTES,
  slotPosition,
  slotStart,
  summarize,
} from "./metrics_ring.ts";

/** The figures of one process at one time. */
export interface Reading {
  readonly name: string;
  readonly sample: Sample;
}

interface HistoryOptions {
  readonly folder: string;
  readonly clock: Clock;
  /** Reads the current figures of every process and of the host. */
  readonly read: () => readonly Reading[];
  /** Called with the figures of a slot, and its start, once they are written. */
  readonly written?: (at: number, readings: readonly Reading[]) => void;
  readonly warn: (message: string) => void;
}

/** Histories of deleted processes are removed after this time, or when there are more than this many. */
const KEPT_MS = COARSE.slots * COARSE.step;
const MAX_DELETED = 100;

/** A timer may fire before its slot begins while the system clock is being adjusted. */
const EARLY_MS = 1000;

const ENDING = ".ring";

export class MetricsHistory implements Disposable {
  readonly #options: HistoryOptions;
  /** Names of the processes, as of the last reading. */
  #names: ReadonlySet<string> = new Set();
  /** Problems that were logged already. */
  readonly #warned = new Set<"disk" | "format">();
  #cancel: Cancel | undefined;

  constructor(options: HistoryOptions) {
    this.#options = options;
  }

  /** Writes at the beginning of every slot from now on. */
  start(): void {
    const { clock } = this.#options;
    this.#cancel = clock.after(this.#slot() + FINE.step - clock.now(), () => {
      this.start();
      this.#attempt(() => this.#write());
    });
  }

  [Symbol.dispose](): void {
    this.#cancel?.();
  }

  /** Names of all processes that have a history, including deleted ones. */
  names(): string[] {
    return namesIn(this.#options.folder).filter((name) => name.endsWith(ENDING))
      .map((name) => name.slice(0, -ENDING.length)).filter((name) => name !== HOST).sort();
  }

  /** Gives a process's history its new name, unless a deleted process left one of that name. */
  renamed(from: string, to: string): void {
    const [old, path] = [this.#path(from), this.#path(to)];
    if (lstatIfAny(old) === undefined || lstatIfAny(path) !== undefined) return;
    this.#attempt(() => Deno.renameSync(old, path));
  }

  /** The points of a process in a range of time. Throws `other_version`. */
  async points(name: string, plan: Plan): Promise<Point[]> {
    return downsample(await this.#stored(name, plan), plan.step);
  }

  async #stored(name: string, { ring, since, until }: Plan): Promise<Point[]> {
    // Yield, so that reading many histories does not block the daemon.
    await sleep(0);
    try {
      using file = openRing(this.#path(name), { read: true });
      return regions(ring, since, until).flatMap(({ position, bytes, from }) =>
        decodeSlots(ring, readAt(file, position, bytes), from)
      );
    } catch (error) {
      if (error instanceof Deno.errors.NotFound || error instanceof DamagedRing) return [];
      throw error;
    }
  }

  /** The times within a range in which no daemon measured anything, and so none ran. */
  async gaps(since: number, until: number): Promise<readonly Gap[]> {
    const range = plan(since, until, Infinity, this.#options.clock.now());
    // Also the measurements before the range: a gap may begin there.
    return gapsIn(await this.#stored(HOST, { ...range, since: 0 }), range);
  }

  /** Start of the current slot, or of one that is about to begin. */
  #slot(): number {
    return slotStart(FINE, this.#options.clock.now() + EARLY_MS);
  }

  #write(): void {
    const at = this.#slot();
    const readings = this.#options.read();
    this.#names = new Set(readings.map(({ name }) => name));
    const failed = readings.filter(({ name, sample }) =>
      !this.#attempt(() => this.#add(name, at, sample))
    );
    if (failed.length === 0) this.#warned.delete("disk");
    // Once per coarse slot is enough.
    if (at % COARSE.step === 0) this.#attempt(() => this.#prune(at));
    this.#options.written?.(at, readings);
  }

  /** Rewrites the coarse slot with every sample, so that an ending daemon loses nothing of it. */
  #add(name: string, at: number, sample: Sample): void {
    using file = this.#opened(name);
    const write = (ring: typeof FINE, at: number, sample: Sample) =>
      writeAt(file, slotPosition(ring, at), encodeSlot({ at, sample }));
    write(FINE, at, sample);
    const start = slotStart(COARSE, at);
    const bytes = readAt(file, slotPosition(FINE, start), COARSE.step / FINE.step * SLOT_BYTES);
    write(COARSE, start, summarize(decodeSlots(FINE, bytes, start).map(({ sample }) => sample)));
  }

  #prune(now: number): void {
    const used = new Set([...this.#names].map((name) => this.#path(name)));
    const { folder } = this.#options;
    const deleted = namesIn(folder).map((file) => `${folder}/${file}`)
      .filter((path) => !used.has(path))
      .map((path) => ({ path, at: Deno.lstatSync(path).mtime?.getTime() ?? 0 }))
      .sort((a, b) => b.at - a.at);
    for (const [index, { path, at }] of deleted.entries()) {
      if (index < MAX_DELETED && at > now - KEPT_MS) continue;
      if (!isNewer(path)) Deno.removeSync(path);
    }
  }

  #path(name: string): string {
    return `${this.#options.folder}/${name}${ENDING}`;
  }

  /** Opens the file of a process; creates a missing one and sets a damaged one aside. */
  #opened(name: string): Deno.FsFile {
    const path = this.#path(name);
    const open = () => openRing(path, { read: true, write: true, create: true, mode: 0o600 });
    try {
      return open();
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) {
        Deno.mkdirSync(this.#options.folder, { mode: 0o700, recursive: true });
      } else if (error instanceof DamagedRing) this.#options.warn(setAside(path, error));
      else throw error;
      return open();
    }
  }

  /** Returns false if the disk failed. Logs a lasting problem once. */
  #attempt(act: () => void): boolean {
    try {
      act();
      return true;
    } catch (error) {
      const isNewer = error instanceof ProcsupError;
      const what = isNewer
        ? `${error.message}; it is kept, and gets no new data`
        : `Cannot write the metrics history in "${this.#options.folder}", will try again: ${
          messageOf(error)
        }`;
      const kind = isNewer ? "format" : "disk";
      if (!this.#warned.has(kind)) this.#options.warn(what);
      this.#warned.add(kind);
      return isNewer;
    }
  }
}

class DamagedRing extends Error {}

/** Opens a ring file. Throws `other_version`, `DamagedRing` and system errors. */
function openRing(path: string, options: Deno.OpenOptions): Deno.FsFile {
  const file = Deno.openSync(path, options);
  try {
    if (options.write && file.statSync().size === 0) writeAt(file, 0, encodeHeader());
    const header = readHeader(readAt(file, 0, HEADER_BYTES));
    if (header === "damaged") throw new DamagedRing("its header is damaged");
    if (header === "newer") {
      throw new ProcsupError(
        "other_version",
        `A newer version wrote the metrics history "${path}"`,
      );
    }
    return file;
  } catch (error) {
    file.close();
    throw error;
  }
}

/** Whether a newer version wrote the file. */
function isNewer(path: string): boolean {
  try {
    openRing(path, { read: true }).close();
    return false;
  } catch (error) {
    return error instanceof ProcsupError;
  }
}

/** Reads bytes at a position. Bytes beyond the end of the file are zeros. */
function readAt(file: Deno.FsFile, position: number, length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  file.seekSync(position, Deno.SeekMode.Start);
  for (let filled = 0; filled < length;) {
    const count = file.readSync(bytes.subarray(filled));
    if (count === null) break;
    filled += count;
  }
  return bytes;
}

function writeAt(file: Deno.FsFile, position: number, bytes: Uint8Array): void {
  file.seekSync(position, Deno.SeekMode.Start);
  if (file.writeSync(bytes) < bytes.length) throw new Error("the disk is full");
}

const HEALTH = { unknown: NaN, healthy: 1, unhealthy: 0 } as const;

/**
 * Returns a function that reads the figures of every process and of the host. CPU is the mean since its
 * previous call.
 */
export function metricsReader(
  { directory, usage }: Pick<Supervisor, "directory" | "usage">,
): () => Reading[] {
  const meter = new HostMeter();
  // A meter's first reading covers the time since boot.
  meter.read();
  /** CPU marks by wrapper pid, as of the previous call. */
  let marks: ReadonlyMap<number, CpuMark> = new Map();
  return () => {
    const next = new Map<number, CpuMark>();
    const processes = directory.list();
    const read = usage.read(processes);
    const readings = processes.map((process): Reading => {
      const [tree, root] = [read(process), process.snapshot.run?.wrapperPid ?? 0];
      if (tree !== undefined) next.set(root, tree.mark);
      return { name: process.name, sample: sampleOf(process, tree, marks.get(root)) };
    });
    marks = next;
    return [...readings, { name: HOST, sample: hostSample(meter) }];
  };
}

function sampleOf(
  process: ManagedProcess,
  tree: TreeUsage | undefined,
  before: CpuMark | undefined,
): Sample {
  const { pid, restarts, uptimeMs, health } = process.info();
  const isUp = pid !== 0;
  const cpu = cpuOf(tree, before);
  const { memBytes: memory = NaN, threads = NaN, fds = NaN } = tree?.usage ?? {};
  return {
    ...{ cpu, cpuMax: cpu, memory, memoryMax: memory, threads, fds, load: NaN, restarts },
    ...{
      uptime: Math.floor(uptimeMs / 1000),
      up: isUp ? 1 : 0,
      health: isUp ? HEALTH[health] : NaN,
    },
  };
}

function cpuOf(tree: TreeUsage | undefined, before: CpuMark | undefined): number {
  if (tree === undefined) return NaN;
  const elapsed = before === undefined ? 0 : tree.mark.at - before.at;
  if (elapsed <= 0) return tree.usage.cpuPercent;
  return Math.max(0, tree.mark.cpuMs - before!.cpuMs) / elapsed * 100;
}

function hostSample(meter: HostMeter): Sample {
  const { cpu_percent: cpu, used_memory: memory, cpu_load_1: load, uptime_seconds } = meter.read();
  return {
    ...{ cpu, cpuMax: cpu, memory, memoryMax: memory, threads: NaN, fds: NaN, load, restarts: 0 },
    ...{ uptime: uptime_seconds, up: 1, health: NaN },
  };
}
