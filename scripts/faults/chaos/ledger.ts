/** What was asked of each app and granted: that is what must be so at a quiet moment. */

/** One app, by the name of its configuration. */
export interface Entry {
  /** Undefined: a request got no answer, or two crossed. */
  exists: boolean | undefined;
  wish: "up" | "down" | undefined;
  instances: number | undefined;
  /** Value of the variable `PATCHED` that was granted last. */
  patched: string | undefined;
  /** Requests under way. */
  busy: number;
  /** Counts requests: one that sees another number afterwards was crossed. */
  requests: number;
}

/** All apps of a run. */
export class Ledger {
  readonly #entries = new Map<string, Entry>();
  /** Runs of which the app, or its wrapper, was killed by us, by name and time. */
  readonly killed: {
    readonly name: string;
    readonly what: "app" | "wrapper";
    readonly at: number;
  }[] = [];
  /** Apps that others may have started. */
  readonly upForOthers = new Set<string>();
  /** When an app was last forgotten, or may have been, by name. */
  readonly forgotten = new Map<string, number>();
  /** Times of requests, by name. */
  readonly touched = new Map<string, number>();

  /** An app. */
  of(name: string): Entry {
    const known = this.#entries.get(name);
    if (known !== undefined) return known;
    const fresh: Entry = {
      ...{ exists: false, wish: undefined, instances: undefined, patched: undefined },
      ...{ busy: 0, requests: 0 },
    };
    this.#entries.set(name, fresh);
    return fresh;
  }

  /** All of them. */
  all(): [string, Entry][] {
    return [...this.#entries];
  }

  /** Runs a request on an app; what it changes is certain only when nothing crossed it. */
  async request(
    name: string,
    act: () => Promise<boolean>,
    granted: (entry: Entry) => void,
  ): Promise<void> {
    const entry = this.of(name);
    const crossed = entry.busy > 0;
    const turn = ++entry.requests;
    this.touched.set(name, (this.touched.get(name) ?? 0) + 1);
    entry.busy++;
    let ok = false;
    try {
      ok = await act();
    } finally {
      entry.busy--;
      if (ok && !crossed && entry.requests === turn) granted(entry);
      else this.doubt(name);
    }
  }

  /** Runs a request that may change anything of all apps. */
  async onAll(act: () => Promise<unknown>): Promise<void> {
    const touch = (busy: number) => {
      for (const [name, entry] of this.#entries) {
        entry.busy += busy;
        entry.requests++;
        this.doubt(name);
      }
    };
    touch(1);
    await act().finally(() => touch(-1));
  }

  /** Anything may be so. */
  doubt(name: string): void {
    const nothing = {
      exists: undefined,
      wish: undefined,
      instances: undefined,
      patched: undefined,
    };
    Object.assign(this.of(name), nothing);
  }

  /** The app may be started on behalf of another one, until the next quiet moment. */
  mayBeUp(name: string): void {
    this.upForOthers.add(name);
  }
}
