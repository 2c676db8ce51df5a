/** What an app reports to its `NOTIFY_SOCKET`: the assignments of sd_notify(3). Pure. */

import { plainText, shortened } from "./plain_text.ts";

/** The state of a run by all its assignments so far. */
export interface Notices {
  /** It has said `READY=1`. */
  readonly isReady: boolean;
  /** It has said `RELOADING=1`, and not `READY=1` since. */
  readonly isReloading: boolean;
  /** It has said `STOPPING=1`. */
  readonly isStopping: boolean;
  /** Its main process is a new one, which has not said `WATCHDOG=1` yet. */
  readonly isNewMain: boolean;
  /** Its last `STATUS=`. */
  readonly status: string;
  /** Interval of `WATCHDOG=1` that it has asked for, in place of the configured one. */
  readonly watchdogMs?: number;
}

export const NO_NOTICES: Notices = {
  isReady: false,
  isReloading: false,
  isStopping: false,
  isNewMain: false,
  status: "",
};

/** An assignment that is acted on. */
export type Notice =
  | { readonly type: "ready" | "reloading" | "stopping" | "alive" | "hung" | "new_main" }
  | { readonly type: "status"; readonly text: string }
  | { readonly type: "watchdog"; readonly ms: number }
  | { readonly type: "extend"; readonly ms: number };

/** Written by the supervisor: later assignments are those of a new main process. */
export const NEW_MAIN_LINE = "PROCSUP_NEW_MAIN=1";

/** The app chooses the text, so it is cut, without control sequences. */
const STATUS_LENGTH = 200;

/** The largest delay of a timer. */
const LONGEST_MS = 2 ** 31 - 1;

/** The meaning of one line. Undefined for others, such as `FDSTORE=1` and `BARRIER=1`. */
export function parseNotice(line: string): Notice | undefined {
  const at = line.indexOf("=");
  const value = line.slice(at + 1);
  switch (line.slice(0, at)) {
    case "READY":
      return value === "1" ? { type: "ready" } : undefined;
    case "RELOADING":
      return value === "1" ? { type: "reloading" } : undefined;
    case "STOPPING":
      return value === "1" ? { type: "stopping" } : undefined;
    case "STATUS":
      return { type: "status", text: shortened(plainText(value).trim(), STATUS_LENGTH) };
    case "WATCHDOG":
      if (value === "1") return { type: "alive" };
      return value === "trigger" ? { type: "hung" } : undefined;
    case "PROCSUP_NEW_MAIN":
      return { type: "new_main" };
    case "WATCHDOG_USEC":
      return ofMs(value, (ms) => ({ type: "watchdog", ms }));
    case "EXTEND_TIMEOUT_USEC":
      return ofMs(value, (ms) => ({ type: "extend", ms }));
    default:
      return undefined;
  }
}

function ofMs(usec: string, notice: (ms: number) => Notice): Notice | undefined {
  if (!/^\d{1,20}$/.test(usec)) return undefined;
  return notice(Math.min(Number(usec) / 1000, LONGEST_MS));
}

/** The state after one more assignment. */
export function withNotice(so: Notices, notice: Notice): Notices {
  switch (notice.type) {
    case "ready":
      return { ...so, isReady: true, isReloading: false };
    case "reloading":
      return { ...so, isReloading: true };
    case "stopping":
      return { ...so, isStopping: true };
    case "status":
      return { ...so, status: notice.text };
    case "new_main":
      // The former one has said that of itself.
      return { ...so, isStopping: false, isReloading: false, isNewMain: true };
    case "alive":
      return so.isNewMain ? { ...so, isNewMain: false } : so;
    case "watchdog":
      return { ...so, watchdogMs: notice.ms };
    default:
      return so;
  }
}

/** Assignments that result in the same state. */
export function noticeLines(so: Notices): string[] {
  return [
    ...so.isNewMain ? [NEW_MAIN_LINE] : [],
    ...so.isReady ? ["READY=1"] : [],
    ...so.isReloading ? ["RELOADING=1"] : [],
    ...so.isStopping ? ["STOPPING=1"] : [],
    ...so.status === "" ? [] : [`STATUS=${so.status}`],
    ...so.watchdogMs === undefined ? [] : [`WATCHDOG_USEC=${Math.round(so.watchdogMs * 1000)}`],
  ];
}
