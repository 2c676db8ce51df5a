/** Records the granted requests for each app, which determine its state at a quiet moment. */

/** Expected state of an app, which is identified by its configured name. */
export interface Entry {
  /** Undefined if a request got no answer, or two requests overlapped. */
  exists: boolean | undefined;
  desired: "up" | "down" | undefined;
  instances: number | undefined;
  /** Last granted value of the variable `PATCHED`. */
  patched: string | undefined;
  /** Whether a release with RELEASE=bad was the last request, and was rolled back. */
  isRolledBack: boolean | undefined;
  /** Number of requests in progress. */
  busy: number;
  /** Counts requests. If it changes during a request, another request overlapped. */
  requests: number;
}

export class Ledger {
  readonly #entries = new Map<string, Entry>();
  /** Apps and wrappers that the run killed. */
  readonly killed: {
    readonly name: string;
    readonly what: "app" | "wrapper";
    readonly at: number;
  }[] = [];
  /** Apps that may have been started as a dependency. */
  readonly upForOthers = new Set<string>();
  /** By name: when an app was last deleted, or may have been. */
  readonly forgotten = new Map<string, number>();
  /** Number of requests by name. */
  readonly touched = new Map<string, number>();

  of(name: string): Entry {
    const known = this.#entries.get(name);
    if (known !== undefined) return known;
    const fresh: Entry = {
      ...{ exists: false, desired: undefined, instances: undefined, patched: undefined },
      isRolledBack: undefined,
      ...{ busy: 0, requests: 0 },
    };
    this.#entries.set(name, fresh);
    return fresh;
  }

  all(): [string, Entry][] {
    return [...this.#entries];
  }

  /** Runs a request on an app. Its effect is certain only if no other request overlapped it. */
  async request(
    name: string,
    act: () => Promise<boolean>,
    granted: (entry: Entry) => void,
  ): Promise<void> {
    const entry = this.of(name);
    const crossed = entry.busy > 0;
    const turn = ++entry.requests;
    this.#touch(name);
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

  /** Runs a request that may change all apps. */
  async onAll(act: () => Promise<unknown>): Promise<void> {
    const touch = (busy: number) => {
      for (const [name, entry] of this.#entries) {
        entry.busy += busy;
        entry.requests++;
        this.#touch(name);
        this.doubt(name);
      }
    };
    touch(1);
    await act().finally(() => touch(-1));
  }

  #touch(name: string): void {
    this.touched.set(name, (this.touched.get(name) ?? 0) + 1);
  }

  /** Marks the state of an app as unknown. */
  doubt(name: string): void {
    const nothing = {
      exists: undefined,
      desired: undefined,
      instances: undefined,
      patched: undefined,
      isRolledBack: undefined,
    };
    Object.assign(this.of(name), nothing);
  }

  /** Notes that the app may be started as a dependency, until the next quiet moment. */
  mayBeUp(name: string): void {
    this.upForOthers.add(name);
  }
}
