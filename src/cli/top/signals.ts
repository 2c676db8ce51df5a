/** Everything from outside that a full screen must hear of while it is shown. */

/** Who is told. */
export interface SignalActs {
  /** It is to end, with that exit code. */
  readonly end: (code: number) => void;
  /** The person wants the shell back for a while. */
  readonly suspend: () => void;
  readonly resume: () => void;
  readonly resized: () => void;
  /** An error that nobody caught. */
  readonly failed: (error: unknown) => void;
}

/** 128 + the signal's number, as shells have it. */
const ENDS: Readonly<Partial<Record<Deno.Signal, number>>> = {
  SIGHUP: 129,
  SIGINT: 130,
  SIGQUIT: 131,
  SIGTERM: 143,
};

/** Tells of signals and uncaught errors from now on; returns its undoing. */
export function onSignals(acts: SignalActs): () => void {
  const undoing: (() => void)[] = [];
  const on = (signal: Deno.Signal, act: () => void) => {
    Deno.addSignalListener(signal, act);
    undoing.push(() => Deno.removeSignalListener(signal, act));
  };
  for (const [signal, code] of Object.entries(ENDS)) {
    on(signal as Deno.Signal, () => acts.end(code));
  }
  on("SIGTSTP", acts.suspend);
  on("SIGCONT", acts.resume);
  on("SIGWINCH", acts.resized);
  const caught = (event: Event, error: unknown) => {
    event.preventDefault();
    acts.failed(error);
  };
  const onError = (event: ErrorEvent) => caught(event, event.error);
  const onRejection = (event: PromiseRejectionEvent) => caught(event, event.reason);
  addEventListener("error", onError);
  addEventListener("unhandledrejection", onRejection);
  undoing.push(() => removeEventListener("error", onError));
  undoing.push(() => removeEventListener("unhandledrejection", onRejection));
  return () => undoing.forEach((undo) => undo());
}
