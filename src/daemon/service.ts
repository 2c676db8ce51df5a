/** Reports the daemon's state to its service manager. */

import { messageOf } from "../model/errors.ts";
import { type Notified, notifyService } from "../platform/service_manager.ts";

/** Extra time to request while apps are being stopped, and the interval of the requests. */
const EXTEND_MS = 30_000;
const EXTEND_EVERY_MS = 10_000;

/** Pause before a message is sent again to a service manager that is behind with reading. */
const BUSY_MS = 100;

/** Notifies the service manager. Without one it does nothing. */
export class Service implements Disposable {
  readonly #socket: string | undefined;
  readonly #warn: (message: string) => void;
  #timer: ReturnType<typeof setInterval> | undefined;
  #again: ReturnType<typeof setTimeout> | undefined;

  /** `socket` is the value of `NOTIFY_SOCKET`. */
  constructor(socket: string | undefined, warn: (message: string) => void) {
    this.#socket = socket;
    this.#warn = warn;
  }

  /**
   * The daemon is ready. `watchdogMs` is the longest interval between signs of life; they are sent
   * twice as often.
   */
  ready(watchdogMs?: number): void {
    this.#say("READY=1");
    if (watchdogMs) this.#repeat(watchdogMs / 2, "WATCHDOG=1");
  }

  /** The daemon ends shortly. */
  stopping(): void {
    this.#say("STOPPING=1");
  }

  /** The daemon stops the apps first, which may take long. */
  halting(): void {
    const more = `EXTEND_TIMEOUT_USEC=${EXTEND_MS * 1000}`;
    this.#say(`STOPPING=1\nSTATUS=Stopping the apps\n${more}`);
    this.#repeat(EXTEND_EVERY_MS, `${more}\nWATCHDOG=1`);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    clearTimeout(this.#again);
  }

  #repeat(everyMs: number, state: string): void {
    clearInterval(this.#timer);
    if (this.#socket !== undefined) this.#timer = setInterval(() => this.#send(state), everyMs);
  }

  /** Sends a message until the service manager takes it, or there is a newer one. */
  #say(state: string): void {
    clearTimeout(this.#again);
    if (this.#send(state) === "busy") this.#again = setTimeout(() => this.#say(state), BUSY_MS);
  }

  #send(state: string): Notified | undefined {
    if (this.#socket === undefined) return;
    try {
      const notified = notifyService(this.#socket, state);
      if (notified !== "nobody listens") return notified;
      this.#warn(`The service manager does not listen on "${this.#socket}"`);
    } catch (error) {
      this.#warn(`Cannot reach the service manager: ${messageOf(error)}`);
    }
    this[Symbol.dispose]();
  }
}

/** The watchdog interval that the service manager set for this process; undefined if none. */
export function watchdogMs(): number | undefined {
  const meant = Deno.env.get("WATCHDOG_PID") ?? String(Deno.pid);
  const microseconds = Number(Deno.env.get("WATCHDOG_USEC") ?? 0);
  return meant === String(Deno.pid) && microseconds > 0 ? microseconds / 1000 : undefined;
}
