/** Writes to the standard input of apps that have `stdin` or `tty`. */

import { ifPossible } from "../model/errors.ts";
import { removeFile } from "./atomic_file.ts";
import { sleep } from "./clock.ts";

/** The used part of node:fs. Deno's own functions wait for a reader when they open a FIFO. */
interface NodeFs {
  readonly constants: Readonly<Record<"O_RDWR" | "O_WRONLY" | "O_NONBLOCK" | "O_NOCTTY", number>>;
  openSync(path: string, flags: number): number;
  writeSync(fd: number, bytes: Uint8Array): number;
  closeSync(fd: number): void;
}

/** node:fs, loaded at the first use. */
export function nodeFs(): NodeFs {
  const { process } = globalThis as unknown as {
    process: { getBuiltinModule(name: "node:fs"): NodeFs };
  };
  return process.getBuiltinModule("node:fs");
}

/** How long the input of an app may stay full while the app reads nothing. */
const PATIENCE_MS = 2000;
const RETRY_MS = 10;

/**
 * A FIFO takes this many bytes as a whole or not at all, on every system. Of a longer text it takes a
 * part, and writeSync() throws EAGAIN without saying how much: it would be written again.
 */
const WHOLE_BYTES = 512;

const CLOSED = "it has closed its standard input";

/** Path of the FIFO of a run, in the folder of its app; the launch wrapper makes it. */
export function inputPath(folder: string, runId: string): string {
  return `${folder}/stdin.${runId}`;
}

/** Removes the FIFO of a run that is over, if any. */
export function removeInput(folder: string, runId: string): void {
  // The disk refuses. A FIFO without a reader does no harm.
  ifPossible(() => removeFile(inputPath(folder, runId)));
}

/** Writes a text to the FIFO of an app. Returns why part of it was not written, as a clause. */
export async function writeInput(path: string, text: string): Promise<string | undefined> {
  const { constants, openSync, writeSync, closeSync } = nodeFs();
  const flags = constants.O_WRONLY | constants.O_NONBLOCK;
  const fd = unlessRefused(() => openSync(path, flags), ["ENXIO", "ENOENT"]);
  if (fd === undefined) return CLOSED;
  try {
    let bytes = new TextEncoder().encode(text);
    for (let waitedMs = 0; bytes.length > 0;) {
      const count = unlessRefused(() => writeSync(fd, bytes.subarray(0, WHOLE_BYTES)), ["EAGAIN"]);
      if (count !== undefined) {
        bytes = bytes.subarray(count);
        waitedMs = 0;
        continue;
      }
      if (waitedMs >= PATIENCE_MS) return "it does not read its standard input, which is full";
      await sleep(RETRY_MS);
      waitedMs += RETRY_MS;
    }
    return undefined;
  } catch (error) {
    // The app ended, or closed its input, after the FIFO was opened.
    if (hasCode(error, ["EPIPE"])) return CLOSED;
    throw error;
  } finally {
    closeSync(fd);
  }
}

function unlessRefused(act: () => number, codes: readonly string[]): number | undefined {
  try {
    return act();
  } catch (error) {
    if (hasCode(error, codes)) return undefined;
    throw error;
  }
}

function hasCode(error: unknown, codes: readonly string[]): boolean {
  return codes.includes((error as { code?: string }).code ?? "");
}
