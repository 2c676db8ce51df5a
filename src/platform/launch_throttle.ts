/**
 * Limits bursts of work that blocks, such as launches of a millisecond or more each: after a while
 * they are interrupted by pauses, in which the daemon serves other requests.
 */

import { removeFile } from "./atomic_file.ts";
import { sleep } from "./clock.ts";

/** Milliseconds until the first pause of a burst. */
const FIRST_MS = 100;

/** Milliseconds between its pauses. */
const PIECE_MS = 25;

/** Length of a pause where no socket may be opened. */
const PAUSE_MS = 2;

/** Work after a longer gap begins a new burst. */
const GAP_MS = 25;

/** Limits one kind of work. */
export class LaunchThrottle {
  readonly #socket: string;
  #leftMs = FIRST_MS;
  #endedAt = 0;
  #pause: Promise<void> | undefined;

  /** `socket` is the path of a socket that exists during the pauses, in a folder that is private. */
  constructor(socket: string) {
    this.#socket = socket;
  }

  /** Undefined when more work may start now; else resolves when to check again. */
  get full(): Promise<void> | undefined {
    if (this.#pause !== undefined) return this.#pause;
    if (this.#leftMs > 0 || performance.now() - this.#endedAt > GAP_MS) return undefined;
    return this.#pause = servesOthers(this.#socket).then(() => {
      this.#pause = undefined;
      this.#leftMs = PIECE_MS;
      // A busy loop may prolong the pause. That is not a gap.
      this.#endedAt = performance.now();
    });
  }

  /** Runs a piece of the work. */
  work<T>(act: () => T): T {
    const begunAt = performance.now();
    if (begunAt - this.#endedAt > GAP_MS) {
      this.#leftMs = FIRST_MS;
      this.#endedAt = begunAt;
    }
    try {
      return act();
    } finally {
      const endedAt = performance.now();
      // The time between two pieces counts as well.
      this.#leftMs -= endedAt - this.#endedAt;
      this.#endedAt = endedAt;
    }
  }
}

/**
 * Resolves once the event loop has looked for connections and data, which a busy one does only every
 * 61st turn: a connection to itself arrives no sooner than those of others.
 */
async function servesOthers(path: string): Promise<void> {
  // A library may lack the permission. It must not prompt for it.
  if (Deno.permissions.querySync({ name: "net" }).state !== "granted") return await sleep(PAUSE_MS);
  try {
    // A killed daemon may have left it behind.
    removeFile(path);
    using listener = Deno.listen({ transport: "unix", path });
    const [one, other] = await Promise.all([
      listener.accept(),
      Deno.connect({ transport: "unix", path }),
    ]);
    one.close();
    other.close();
  } catch {
    // No descriptor is left, or no space.
    await sleep(PAUSE_MS);
  }
}
