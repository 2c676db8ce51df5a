/** Handles signals to this process. */

import type { SignalName } from "../model/signal.ts";

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
