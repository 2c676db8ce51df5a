/** The releases that are deployed, and how each must end. */

/** A kind of release; the apps read it from KIND. */
export interface Kind {
  readonly name: string;
  readonly what: string;
  /** Whether it stays. */
  readonly isGood: boolean;
  /** Keys of its configuration. */
  readonly keys?: Readonly<Record<string, unknown>>;
}

export const KINDS: readonly Kind[] = [
  { name: "good", what: "good", isGood: true },
  { name: "slow", what: "good and slow", isGood: true },
  { name: "crash", what: "crashes at boot", isGood: false },
  { name: "crash_later", what: "crashes after 2 s", isGood: false },
  { name: "exit", what: "exits with 0", isGood: false },
  { name: "deaf", what: "never listens", isGood: false },
  { name: "bad", what: "503 at once", isGood: false },
  { name: "bad_later", what: "200, then 503 after 3 s", isGood: false },
  { name: "silent", what: "accepts and never answers", isGood: false },
  { name: "other_port", what: "another port", isGood: false },
  {
    name: "memory",
    what: "listens, then eats memory",
    isGood: false,
    // Memory is looked at every 5 seconds.
    keys: { max_memory: "200MB", min_uptime: "8s" },
  },
  { name: "hangs", what: "hangs on SIGTERM", isGood: true },
];
