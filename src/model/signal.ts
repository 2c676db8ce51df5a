/** Names of signals. */

import { nearestWord, withNearest } from "./nearest_word.ts";
import { ProcsupError, quote } from "./errors.ts";

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

/** The exit code of shells after a signal. */
export function signalCode(signal: SignalName): number {
  return 129 + SIGNAL_NAMES.indexOf(signal);
}

/** `"TERM"`, `"sigterm"`, `"SIGTERM"` or `15` → `"SIGTERM"`. Throws `bad_request` for an unknown one. */
export function parseSignal(value: string | number): SignalName {
  const found = signalOf(value);
  if (found !== undefined) return found;
  const close = near(value);
  const message = `Unknown signal ${quote(value)}`;
  throw new ProcsupError(
    "bad_request",
    close === undefined
      ? `${message}: expected a name, such as "HUP" or "SIGTERM", or a number from 1 to 31`
      : withNearest(message, close),
  );
}

/** The signal of an action such as `signal:HUP`; undefined for other actions. */
export function signalOfAction(action: string): SignalName | undefined {
  const text = signalText(action);
  return text === undefined ? undefined : parseSignal(text);
}

/** The text after `signal:`; undefined for other actions. */
export function signalText(action: string): string | undefined {
  return /^signal:(.+)$/.exec(action)?.[1];
}

/** Describes why a signal is invalid; undefined if it is valid. */
export function signalProblem(value: string | number): string | undefined {
  return signalOf(value) === undefined ? withNearest("unknown signal", near(value)) : undefined;
}

function signalOf(value: string | number): SignalName | undefined {
  const text = String(value).trim();
  if (/^\d+$/.test(text)) return SIGNAL_NAMES[Number(text) - 1];
  return SIGNAL_NAMES.find((signal) => signal === `SIG${shortName(text)}`);
}

/** Compared without the prefix, which nearly every short text resembles. */
function near(value: string | number): string | undefined {
  const found = nearestWord(shortName(value), SIGNAL_NAMES.map(shortName));
  return found && `SIG${found}`;
}

function shortName(value: string | number): string {
  return String(value).trim().toUpperCase().replace(/^SIG/, "");
}
