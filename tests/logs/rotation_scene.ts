/** Logs with their own writers, for the rotation tests. */

import { archiveSuffix, listArchives } from "../../src/logs/write/archives.ts";
import { logStream } from "../../src/logs/read/log_stream.ts";
import { rotateLog } from "../../src/logs/write/rotate.ts";
import { canCollapse } from "../../src/platform/files/collapse.ts";
import { TEMP_FOLDER, tempHome } from "../support/temp_home.ts";
import { wholeLog } from "../support/whole_log.ts";
import { waitFor } from "../support/wait_for.ts";

/** True if the folder of temporary files is on a file system that can cut a file's head. */
export const CAN_COLLAPSE: boolean = await canCollapse(TEMP_FOLDER);

/** The lines of `seq 1 count`. */
export function numbers(count: number): string {
  return Array.from({ length: count }, (_, i) => `${i + 1}\n`).join("");
}

/** A folder with logs. */
export class LogScene implements AsyncDisposable {
  readonly #home;
  readonly #writers: Deno.ChildProcess[] = [];
  /** The first of its logs. */
  readonly log: string;

  constructor(folder?: string, name = "stdout") {
    this.#home = tempHome(folder);
    this.log = this.path(name);
  }

  path(name: string): string {
    return `${this.#home.path}/${name}.log`;
  }

  append(text: string): Promise<void> {
    return Deno.writeTextFile(this.log, text, { append: true });
  }

  /**
   * A child process that writes the numbers from 1 to `count`, in blocks that may end within a
   * line.
   */
  writer(log: string, count: number): Promise<unknown> {
    const script = `exec seq 1 ${count} >>"$0"`;
    const child = new Deno.Command("/bin/sh", { args: ["-c", script, log] }).spawn();
    this.#writers.push(child);
    return child.status;
  }

  /** All lines of a log, with its archives. */
  whole(log = this.log): Promise<string> {
    return wholeLog(log);
  }

  rotate(log = this.log, maxSizeBytes = 4096, collapse = CAN_COLLAPSE) {
    return rotateLog(log, { maxSizeBytes, collapse, now: Date.now() });
  }

  archives(log = this.log) {
    return listArchives(log);
  }

  /** The path of a log's archive that begins at `start`. */
  archivePath(start: number, log = this.log): string {
    return log + archiveSuffix(Date.now(), start);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#writers.map(({ status }) => status));
    await this.#home[Symbol.asyncDispose]();
  }
}

/** A follower that collects its output. */
export class Follower implements AsyncDisposable {
  readonly #abort = new AbortController();
  readonly #chunks: Uint8Array<ArrayBuffer>[] = [];
  readonly #done: Promise<void>;
  length = 0;

  constructor(log: string) {
    this.#done = this.#read(
      logStream(log, { follow: true, pollMs: 5, signal: this.#abort.signal }),
    );
  }

  async #read(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
    for await (const chunk of stream) {
      this.#chunks.push(chunk);
      this.length += chunk.length;
    }
  }

  /** Its output, once it has the expected length. */
  async text(length: number): Promise<string> {
    await waitFor(() => this.length >= length, {
      what: () => `the follower to have ${length} bytes instead of ${this.length}`,
    });
    return await new Blob(this.#chunks).text();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
    await this.#done;
  }
}
