/** A piece of news as it stands on the wire. */

import type { ProcessChange } from "../model/process_change.ts";
import type { ExitJson } from "./wire.ts";
import { exitJson } from "./process_json.ts";

/** `ProcessChange` on the wire: an item of `/events`, and of the WebSocket's `event` messages. */
export interface ChangeJson extends Omit<ProcessChange, "at" | "exit"> {
  /** ISO 8601. */
  readonly at: string;
  /** First 8 characters of the UUID. */
  readonly id: string;
  /** Of the run that just ended. */
  readonly exit: ExitJson | null;
}

/**
 * The last item of a stream that was to go on: this daemon gives way to another version, which goes on
 * with the same apps within a second.
 */
export interface UpgradingJson {
  readonly type: "upgrading";
  /** ISO 8601. */
  readonly at: string;
  /** Versions of the daemon that ends and of the one that comes. */
  readonly from: string;
  readonly to: string;
}

/** The last item of a stream of a daemon that was shut down, its apps with it. */
export interface ShutdownJson {
  readonly type: "shutdown";
  /** ISO 8601. */
  readonly at: string;
}

/** An item of the stream of a terminal. */
export type TerminalPiece = {
  readonly text: string;
  /** Where the next piece begins. */
  readonly position: number;
  /** Of the app now; 0 while none runs. */
  readonly pid: number;
} | {
  /** Why the app ended. */
  readonly ended: string;
  readonly code: number | null;
};

/** How a stream ends that was to go on for ever, unless the daemon was killed or only restarted. */
export type FarewellJson = UpgradingJson | ShutdownJson;

/** The wire form of a piece of news. */
export function changeJson({ type, at, id, exit, ...rest }: ProcessChange): ChangeJson {
  return {
    type,
    at: at.toISOString(),
    id: id.slice(0, 8),
    ...rest,
    exit: exit === null ? null : exitJson(exit),
  };
}
