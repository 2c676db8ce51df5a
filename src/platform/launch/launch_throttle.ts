/**
 * Limits bursts of work that blocks, such as launches of a millisecond or more each: after a while
 * they are interrupted by pauses, in which the daemon serves other requests.
 */

import { removeFile } from "../files/atomic_file.ts";
import { type Clock, sleep, systemClock } from "../clock.ts";

/** Milliseconds until the first pause of a burst. */
const FIRST_MS = 100;

/** Milliseconds between its pauses. */
const PIECE_MS = 25;

/** Length of a pause if no socket can be opened. */
const PAUSE_MS = 2;

/** Work after a longer gap begins a new burst. */
const GAP_MS = 25;

/** Limits one kind of work. */
export class LaunchThrottle {
  readonly #socket: string;
  readonly #clock: Pick<Clock, "steady">;
  #leftMs = FIRST_MS;
  #endedAt = 0;
  #pause: Promise<void> | undefined;

  /** `socket` is the path of a socket that exists only during a pause. Its folder must be private. */
  constructor(socket: string, clock: Pick<Clock, "steady"> = systemClock) {
    this.#socket = socket;
    this.#clock = clock;
  }

  /** Undefined when more work may start now; else resolves when to check again. */
  get full(): Promise<void> | undefined {
    if (this.#pause !== undefined) return this.#pause;
    if (this.#leftMs > 0 || this.#clock.steady() - this.#endedAt > GAP_MS) return undefined;
    return this.#pause = untilPolled(this.#socket).then(() => {
      this.#pause = undefined;
      this.#leftMs = PIECE_MS;
      // A busy loop may prolong the pause. That is not a gap.
      this.#endedAt = this.#clock.steady();
    });
  }

  /** Runs a piece of the work. */
  work<T>(act: () => T): T {
    const begunAt = this.#clock.steady();
    if (begunAt - this.#endedAt > GAP_MS) {
      this.#leftMs = FIRST_MS;
      this.#endedAt = begunAt;
    }
    try {
      return act();
    } finally {
      const endedAt = this.#clock.steady();
      // The time between two pieces counts as well.
      this.#leftMs -= endedAt - this.#endedAt;
      this.#endedAt = endedAt;
    }
  }
}

/**
 * Resolves when the event loop has polled its sockets. A busy event loop does so only every 61st turn.
 * A connection of the daemon to itself is accepted no earlier than those that wait.
 */
async function untilPolled(path: string): Promise<void> {
  // Do not prompt: a program that uses the library may lack this permission.
  if (Deno.permissions.querySync({ name: "net" }).state !== "granted") return await sleep(PAUSE_MS);
  try {
    // A killed daemon may have left its socket.
    removeFile(path);
    using listener = Deno.listen({ transport: "unix", path });
    const [one, other] = await Promise.all([
      listener.accept(),
      Deno.connect({ transport: "unix", path }),
    ]);
    one.close();
    other.close();
  } catch {
    // Out of file descriptors or disk space.
    await sleep(PAUSE_MS);
  }
}
