/** What a daemon leaves about itself in its home, for whoever replaces it. */

import { readFileIfAny, replaceFile } from "./atomic_file.ts";
import { fixedWords } from "./own_program.ts";

/** Number of the format of state/: a program does not take over what a newer one wrote. */
export const STATE_FORMAT = 1;

/** A daemon, as it recorded itself. */
export interface DaemonRecord {
  readonly pid: number;
  readonly version: string;
  readonly protocol: number;
  /** The `STATE_FORMAT` it writes. */
  readonly state: number;
  /** Words that start that very build again, whatever became of the executable since. */
  readonly words: readonly string[];
  /** What starts it again when it ends, where something does. */
  readonly service: "systemd" | null;
}

/** Records this process as the daemon of a home. */
export function recordDaemon(home: string, version: string, protocol: number): void {
  const service = Deno.env.get("SYSTEMD_EXEC_PID") === String(Deno.pid) ? "systemd" : null;
  const record: DaemonRecord = {
    pid: Deno.pid,
    version,
    protocol,
    state: STATE_FORMAT,
    words: fixedWords(),
    service,
  };
  replaceFile(recordPath(home), `${JSON.stringify(record, null, 2)}\n`);
}

/** What the last daemon of a home recorded; undefined where nothing readable is. */
export function readDaemonRecord(home: string): DaemonRecord | undefined {
  try {
    return JSON.parse(readFileIfAny(recordPath(home)) ?? "");
  } catch {
    return undefined;
  }
}

function recordPath(home: string): string {
  return `${home}/state/daemon.json`;
}
