/** Events of processes, and messages about the daemon, on the wire. */

import type { ProcessChange } from "../model/process_change.ts";
import type { ExitJson } from "./wire.ts";
import { exitJson } from "./process_json.ts";

/** `ProcessChange` on the wire: an item of `/events`, and of the WebSocket's `event` messages. */
export interface ChangeJson extends Omit<ProcessChange, "at" | "exit"> {
  /** ISO 8601. */
  readonly at: string;
  /** First 8 characters of the UUID. */
  readonly id: string;
  /** How the last run ended, at any event; null before the first end. */
  readonly exit: ExitJson | null;
}

/**
 * Last item of an endless stream if another version of the daemon takes over. It adopts the apps within
 * a second.
 */
export interface UpgradingJson {
  readonly type: "upgrading";
  /** ISO 8601. */
  readonly at: string;
  /** Versions of the current daemon and of the next one. */
  readonly from: string;
  readonly to: string;
}

/** Last item of an endless stream if the daemon is shut down together with the apps. */
export interface ShutdownJson {
  readonly type: "shutdown";
  /** ISO 8601. */
  readonly at: string;
}

/** An item of a terminal stream. */
export type TerminalPiece = {
  readonly text: string;
  /** Position at which the next piece begins. */
  readonly position: number;
  /** Pid of the app; 0 while it does not run. */
  readonly pid: number;
} | {
  /** Reason why the app ended. */
  readonly ended: string;
  readonly code: number | null;
};

/** Last item of an endless stream, unless the daemon was killed or restarted. */
export type ShutdownNoticeJson = UpgradingJson | ShutdownJson;

export function changeJson({ type, at, id, exit, ...rest }: ProcessChange): ChangeJson {
  return {
    type,
    at: at.toISOString(),
    id: id.slice(0, 8),
    ...rest,
    exit: exit === null ? null : exitJson(exit),
  };
}

/** Converts the wanted changes. */
export function changesOf(
  changes: ReadableStream<ProcessChange>,
  isWanted: (change: ProcessChange) => boolean,
): ReadableStream<ChangeJson> {
  return changes.pipeThrough(
    new TransformStream<ProcessChange, ChangeJson>({
      transform: (change, out) => {
        if (isWanted(change)) out.enqueue(changeJson(change));
      },
    }),
  );
}
