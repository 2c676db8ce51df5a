/** A piece of news as it stands on the wire. */

import type { ProcessChange } from "../model/process_change.ts";
import { type ExitJson, exitJson } from "./process_json.ts";

/** `ProcessChange` on the wire: an item of `/events`, and of the WebSocket's `event` messages. */
export interface ChangeJson extends Omit<ProcessChange, "at" | "exit"> {
  /** ISO 8601. */
  readonly at: string;
  /** First 8 characters of the UUID. */
  readonly id: string;
  /** Of the run that just ended. */
  readonly exit: ExitJson | null;
}

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
