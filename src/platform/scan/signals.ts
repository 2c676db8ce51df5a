/** Sends signals to processes, and handles signals to this one. */

import { ifPossible } from "../../model/errors.ts";
import { SIGNAL_NAMES, type SignalName } from "../../model/signal.ts";
import { isLinux } from "../os.ts";

/** Calls `act` at each of the signals until it is disposed of. */
export function onSignals(
  signals: readonly SignalName[],
  act: (signal: SignalName) => void,
): Disposable {
  const listeners = signals.map((signal) => [signal, () => act(signal)] as const);
  for (const [signal, listener] of listeners) Deno.addSignalListener(signal, listener);
  return {
    [Symbol.dispose]() {
      for (const [signal, listener] of listeners.splice(0)) {
        Deno.removeSignalListener(signal, listener);
      }
    },
  };
}

/** Whether this process was started with the signal ignored, as by nohup. False where unknown. */
export function ignoresSignal(signal: SignalName): boolean {
  const status = ifPossible(() => Deno.readTextFileSync("/proc/self/status"));
  const [, ignored] = /^SigIgn:\s*([0-9a-f]+)$/m.exec(status ?? "") ?? [];
  return (BigInt(`0x${ignored ?? 0}`) >> BigInt(SIGNAL_NAMES.indexOf(signal))) % 2n === 1n;
}

/** Whether this process has a controlling terminal. The kernel takes it away when it is closed. */
export function hasTerminal(): boolean {
  const terminal = ifPossible(() => Deno.openSync("/dev/tty"));
  terminal?.close();
  return terminal !== undefined;
}

/** Sends a signal to a process or, if `pid` is negative, to a group. Returns false if it does not exist. */
export function sendSignal(pid: number, signal: SignalName): boolean {
  try {
    Deno.kill(pid, signal as Deno.Signal);
    return true;
  } catch (error) {
    // ESRCH arrives as NotFound; a zombie that is another user's may answer EPERM.
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.PermissionDenied) {
      return false;
    }
    throw error;
  }
}

/** Signals whose numbers differ from Linux's, on macOS. */
const DARWIN_SIGNALS: Readonly<Record<number, Deno.Signal>> = {
  10: "SIGBUS",
  12: "SIGSYS",
  16: "SIGURG",
  17: "SIGSTOP",
  18: "SIGTSTP",
  19: "SIGCONT",
  20: "SIGCHLD",
  23: "SIGIO",
  30: "SIGUSR1",
  31: "SIGUSR2",
};

/** The name of a signal number on this system, given the name of that number on Linux. */
export function localSignal(number: number, linuxName: string): string {
  return isLinux ? linuxName : DARWIN_SIGNALS[number] ?? linuxName;
}
