/** Closes a manager when its program ends. */

import { parseSignal } from "../model/signal.ts";
import { onSignals } from "../platform/signals.ts";

/** Callbacks for signals and for the end of the program. */
interface Closing {
  /** Called at the first signal. Once it is done, the program ends by that signal. */
  readonly close: () => Promise<void>;
  /** Called at a second signal. */
  readonly hurry: () => void;
  /** Called when the program ends without closing. It cannot wait for anything. */
  readonly ended: () => void;
}

const USUAL = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Listens until the returned function is called. */
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
      // End by the signal itself, so that the parent process sees it.
      Deno.kill(Deno.pid, name);
    });
  });
  globalThis.addEventListener("unload", ended);
  return () => {
    globalThis.removeEventListener("unload", ended);
    // While closing, keep listening for a second signal.
    if (!closing) listening[Symbol.dispose]();
  };
}
