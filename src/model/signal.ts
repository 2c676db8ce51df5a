/** Names of signals. */

import { nearestWord, withNearest } from "./nearest_word.ts";
import { ProcsupError } from "./errors.ts";
import { quote } from "./quote.ts";

/** Signals in the order of their numbers on Linux, from 1; the low numbers are the same everywhere. */
export const SIGNAL_NAMES = [
  "SIGHUP",
  "SIGINT",
  "SIGQUIT",
  "SIGILL",
  "SIGTRAP",
  "SIGABRT",
  "SIGBUS",
  "SIGFPE",
  "SIGKILL",
  "SIGUSR1",
  "SIGSEGV",
  "SIGUSR2",
  "SIGPIPE",
  "SIGALRM",
  "SIGTERM",
  "SIGSTKFLT",
  "SIGCHLD",
  "SIGCONT",
  "SIGSTOP",
  "SIGTSTP",
  "SIGTTIN",
  "SIGTTOU",
  "SIGURG",
  "SIGXCPU",
  "SIGXFSZ",
  "SIGVTALRM",
  "SIGPROF",
  "SIGWINCH",
  "SIGIO",
  "SIGPWR",
  "SIGSYS",
] as const;

/** The name of a signal, with its SIG prefix. */
export type SignalName = (typeof SIGNAL_NAMES)[number];

/** `"TERM"`, `"sigterm"`, `"SIGTERM"` or `15` → `"SIGTERM"`. Throws `bad_request` for an unknown one. */
export function parseSignal(value: string | number): SignalName {
  const text = String(value).trim().toUpperCase();
  if (/^\d+$/.test(text)) {
    const named = SIGNAL_NAMES[Number(text) - 1];
    if (named !== undefined) return named;
  }
  const name = text.startsWith("SIG") ? text : `SIG${text}`;
  const found = SIGNAL_NAMES.find((signal) => signal === name);
  if (found !== undefined) return found;
  const near = /^\d+$/.test(text) ? undefined : nearestWord(name, SIGNAL_NAMES);
  throw new ProcsupError("bad_request", withNearest(`Unknown signal ${quote(value)}`, near));
}
