/** How the end of a program closes its manager. */

import { parseSignal } from "../model/signal.ts";
import { onSignals } from "../platform/signals.ts";

/** What happens at a signal, and at the end of the program. */
export interface Closing {
  /** At the first one; the program ends by the signal when it is done. */
  readonly close: () => Promise<void>;
  /** At a second one. */
  readonly hurry: () => void;
  /** When the program ends without closing it: nothing can be waited for then. */
  readonly ended: () => void;
}

const USUAL = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Listens until what it returns is called. */
export function closeAt(
  signals: boolean | readonly Deno.Signal[],
  { close, hurry, ended }: Closing,
): () => void {
  const given = signals === true ? USUAL : signals === false ? [] : signals;
  const names = given.map(parseSignal);
  let closing = false;
  const listening = onSignals(names, (name) => {
    if (closing) return hurry();
    closing = true;
    void close().catch(reportError).finally(() => {
      listening[Symbol.dispose]();
      // By the default of the signal: who started the program sees what ended it.
      Deno.kill(Deno.pid, name);
    });
  });
  globalThis.addEventListener("unload", ended);
  return () => {
    globalThis.removeEventListener("unload", ended);
    // The end of the program is still to come.
    if (!closing) listening[Symbol.dispose]();
  };
}
