/**
 * Reads the environment of processes. Users can make the environment of their processes as large as
 * memory allows, and change it at any time. So only a part is read, and it proves nothing except
 * that the process carries it.
 */

import { isMemoryless, livingThread, readProcInto, statOf } from "./process_table.ts";

/** Maximum bytes read of an environment. */
const READ_BYTES = 256 * 1024;

const buffer = new Uint8Array(READ_BYTES);
const decoder = new TextDecoder();

const RUN_ID = /(?:^|\0)PROCSUP_RUN_ID=([^\0]{1,64})(?:\0|$)/;
const ID = /(?:^|\0)PROCSUP_ID=([^\0]{1,64})(?:\0|$)/;
const EVENT = /(?:^|\0)PROCSUP_EVENT=([^\0]{1,64})(?:\0|$)/;

/**
 * `PROCSUP_RUN_ID` of a process, `PROCSUP_ID` of a hook; undefined without one. Null while the
 * process begins another program: read it again.
 */
export function runIdOf(pid: number, stat = statOf(pid)): string | undefined | null {
  const environment = stat && !isMemoryless(stat) ? environmentOf(pid) : undefined;
  if (environment === undefined) return undefined;
  const text = decoder.decode(environment);
  const runId = (RUN_ID.exec(text) ?? (EVENT.test(text) ? ID.exec(text) : null))?.[1];
  if (runId !== undefined || environment.at(-1) === 0) return runId;
  return isBetweenPrograms(pid, environment.length) ? null : undefined;
}

/** The event that a hook was started for, in snake case; undefined if the process is not a hook. */
export function hookEventOf(pid: number): string | undefined {
  return EVENT.exec(decoder.decode(environmentOf(pid)))?.[1];
}

/** The zero-terminated texts in a file of /proc; none if it cannot be read. */
export function textsOf(path: string): string[] {
  return decoder.decode(readProcInto(buffer, path)).split("\0").slice(0, -1);
}

/** Environment variables from `NAME=value` texts. Ignores other texts. */
export function variablesOf(texts: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    texts.filter((text) => text.indexOf("=") > 0).map((text) => {
      const at = text.indexOf("=");
      return [text.slice(0, at), text.slice(at + 1)];
    }),
  );
}

/** Its start, valid until the next call. Undefined if the process is gone or not ours to read. */
function environmentOf(pid: number): Uint8Array | undefined {
  const own = readProcInto(buffer, `/proc/${pid}/environ`);
  if (own !== undefined && own.length > 0) return own;
  const thread = livingThread(pid);
  return thread === String(pid) ? own : readProcInto(buffer, `/proc/${thread}/environ`);
}

/**
 * Whether a process was inside `exec` when its environment was read: the old one was cut off, or
 * the new program has no code yet.
 */
function isBetweenPrograms(pid: number, length: number): boolean {
  if (length === READ_BYTES) return false;
  const stat = statOf(pid, 49);
  if (stat === undefined) return false;
  const [memory, code, start, end] = [20, 23, 47, 48].map((field) => Number(stat[field]));
  return memory! > 0 && (code === 0 || length < end! - start!);
}
