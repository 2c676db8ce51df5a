/**
 * Files of the run folder: `<run id>.pid` and `<run id>.exit`, by the launch wrapper,
 * `<run id>.ready`, by the app, and `<run id>.notify` and `.sock`; see notify_socket.ts. One watch on
 * the folder serves all runs, and is idle between changes. Apps of another user cannot enter the home,
 * so their ready files and sockets are outside of it.
 */

import { ifPossible } from "../../model/errors.ts";
import { basename } from "@std/path";
import { readFileIfAny, removeFile, replaceFile } from "../files/atomic_file.ts";
import { headOfForeignFile, headOfOwnFile } from "../files/foreign_file.ts";
import { isLinux } from "../os.ts";
import { endNotifySocket } from "./notify_socket.ts";
import { FOR_OTHER_USERS, prepareForOtherUsers } from "../users/as_user.ts";
import { lstatIfAny, namesIn } from "../files/stat.ts";
import { watchFolders } from "../upkeep.ts";

type FileKind = "pid" | "exit" | "ready";

/** The valid content of each file. The wrapper's files are complete once they have a newline. */
const CONTENT: Readonly<Record<FileKind, RegExp>> = {
  pid: /^(?<value>\d+)\n$/,
  exit: /^(?<words>[^]*\n)?(?<value>-?\d+)\n$/,
  ready: /^READY=(?<value>1)\b/m,
};

/** Polling interval where the folder cannot be watched. */
const POLL_MS = isLinux ? 200 : 50;

/** Delay before a new watch: at once, it would end together with the old one on its path. */
const SETTLE_MS = 50;

/** Maximum bytes read of a ready file: its app may make it any size. */
const READY_BYTES = 64;

/** The first bytes of a ready file, which may belong to the app's user. */
function readReadyFile(path: string): string | undefined {
  const owner = lstatIfAny(path)?.uid;
  if (owner === undefined) return undefined;
  return (owner === Deno.uid() ? headOfOwnFile : headOfForeignFile)(path, READY_BYTES);
}

export class RunFiles {
  readonly folder: string;
  readonly #waiting = new Map<string, (value: number) => void>();
  readonly #followed = new Map<string, () => void>();
  #watcher: Deno.FsWatcher | undefined;
  /** Inode of the folder that is watched. */
  #watched: number | null | undefined;
  #poll: ReturnType<typeof setInterval> | undefined;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Path stem of a run's files, as the wrapper takes it. */
  stem(runId: string): string {
    return `${this.folder}/${runId}`;
  }

  /** Recreates the folder if it was removed, and watches the new one. */
  keep(): void {
    const found = lstatIfAny(this.folder);
    if (found === undefined) Deno.mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    else if (found.ino === this.#watched) return;
    this.#watchAnew();
  }

  /** The number in a run's file; undefined while it is missing, incomplete or unreadable. */
  read(runId: string, kind: FileKind): number | undefined {
    const value = this.#parts(runId, kind)?.value;
    return value === undefined ? undefined : Number(value);
  }

  /** The exit status of a run, and whether its shell has told that a signal ended the app. */
  exit(runId: string): { readonly status: number; readonly tellsSignal: boolean } | undefined {
    const parts = this.#parts(runId, "exit");
    return parts && { status: Number(parts.value), tellsSignal: parts.words !== undefined };
  }

  #parts(runId: string, kind: FileKind): Partial<Record<string, string>> | undefined {
    const path = `${this.stem(runId)}.${kind}`;
    try {
      const text = kind === "ready" ? readReadyFile(path) : readFileIfAny(path);
      return text === undefined ? undefined : CONTENT[kind].exec(text)?.groups;
    } catch {
      // One bad file must not end the watch, nor hide that its app has ended.
      return undefined;
    }
  }

  /** When a run's file was written; now, when it is gone. */
  writtenAt(runId: string, kind: FileKind): Date {
    return ifPossible(() => Deno.statSync(`${this.stem(runId)}.${kind}`).mtime) ?? new Date();
  }

  /** Calls `act` once with the number in a run's file, now or later. Returns a cancel function. */
  when(runId: string, kind: FileKind, act: (value: number) => void): () => void {
    const name = `${runId}.${kind}`;
    this.#waiting.set(name, act);
    this.#watch();
    this.#check(name);
    return () => this.#waiting.delete(name);
  }

  /** A run goes on with another main process. */
  handOver(runId: string, pid: number): void {
    replaceFile(`${this.stem(runId)}.pid`, `${pid}\n`);
    removeFile(`${this.stem(runId)}.exit`);
  }

  /** Calls `act` at each change of a run's `.notify` file. Returns a cancel function. */
  followNotices(runId: string, act: () => void): () => void {
    const name = `${runId}.notify`;
    this.#followed.set(name, act);
    this.#watch();
    return () => this.#followed.delete(name);
  }

  /** Path of a run's notify socket; see notify_socket.ts. Throws file system errors. */
  socketPath(runId: string, forOther: boolean): string {
    if (!forOther) return `${this.stem(runId)}.sock`;
    prepareOutside();
    return outside(runId, "sock");
  }

  /** Removes a run's files, whose content is recorded by now. Cancels what waits for them. */
  remove(runId: string): void {
    endNotifySocket(`${this.stem(runId)}.sock`);
    for (const kind of [...Object.keys(CONTENT), "notify"]) {
      this.#waiting.delete(`${runId}.${kind}`);
      // Not a folder, or read-only: the next daemon removes what is left.
      ifPossible(() => removeFile(`${this.stem(runId)}.${kind}`));
    }
  }

  /** Run ids that have files here. */
  list(): Set<string> {
    return new Set(namesIn(this.folder).map((name) => name.replace(/\.[a-z]+$/, "")));
  }

  close(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    clearInterval(this.#poll);
    this.#waiting.clear();
    this.#followed.clear();
  }

  #check(name: string): void {
    this.#followed.get(name)?.();
    const act = this.#waiting.get(name);
    if (act === undefined) return;
    const [runId, kind] = name.split(".") as [string, FileKind];
    const value = this.read(runId, kind);
    if (value === undefined) return;
    this.#waiting.delete(name);
    act(value);
  }

  /** Forgets the inode: a new folder may get the same one. */
  #replaced(): void {
    this.#watched = undefined;
    // The next launch reports failures, of a full disk say.
    ifPossible(() => this.keep());
  }

  #watchAnew(): void {
    if (this.#watcher === undefined) return;
    this.#watcher.close();
    this.#watcher = undefined;
    this.#poll ??= setInterval(() => {
      clearInterval(this.#poll);
      this.#poll = undefined;
      this.#watch();
      this.#checkAll();
    }, SETTLE_MS);
  }

  #watch(): void {
    if (this.#watcher !== undefined || this.#poll !== undefined) return;
    try {
      this.#watched = lstatIfAny(this.folder)?.ino;
      this.#watcher = watchFolders(this.folder);
      this.#follow(this.#watcher);
    } catch {
      // The machine's limit of watches is reached: poll instead.
      this.#poll = setInterval(() => this.#checkAll(), POLL_MS);
    }
  }

  async #follow(watcher: Deno.FsWatcher): Promise<void> {
    for await (const event of watcher) {
      if (event.flag === "rescan") this.#checkAll();
      else if (event.paths.includes(this.folder)) this.#replaced();
      else for (const path of event.paths) this.#check(basename(path));
    }
  }

  #checkAll(): void {
    for (const name of [...this.#waiting.keys(), ...this.#followed.keys()]) this.#check(name);
  }
}

const OUTSIDE = `${FOR_OTHER_USERS}/ready`;

/** The user who writes the file. */
export interface ReadyUser {
  readonly uid: number;
  readonly gid: number;
}

export class ReadyFiles {
  readonly #own: RunFiles;
  readonly #outside = new RunFiles(OUTSIDE);

  constructor(own: RunFiles) {
    this.#own = own;
  }

  /** Path of a run's file. One for another user is created here; throws file system errors. */
  path(runId: string, user?: ReadyUser): string {
    if (user === undefined) return `${this.#own.stem(runId)}.ready`;
    const path = outside(runId);
    prepareOutside();
    Deno.writeTextFileSync(path, "", { createNew: true, mode: 0o600 });
    Deno.chownSync(path, user.uid, user.gid);
    return path;
  }

  /** Calls `act` once when a run reports that it is ready. Returns a cancel function. */
  when(runId: string, act: () => void): () => void {
    const files = lstatIfAny(outside(runId))?.isFile ? this.#outside : this.#own;
    return files.when(runId, "ready", act);
  }

  /** Removes the files outside of the home. */
  forget(runId: string): void {
    // Only root runs apps as others.
    if (Deno.uid() !== 0) return;
    removeFile(outside(runId));
    endNotifySocket(outside(runId, "sock"));
  }

  close(): void {
    this.#outside.close();
  }
}

function prepareOutside(): void {
  prepareForOtherUsers();
  Deno.mkdirSync(OUTSIDE, { recursive: true });
  // Other users may enter the folder, but not list it.
  Deno.chmodSync(OUTSIDE, 0o711);
}

function outside(runId: string, kind: "ready" | "sock" = "ready"): string {
  return `${OUTSIDE}/${runId}.${kind}`;
}
