/** Finds free TCP ports, and waits for listeners. */

import { ProcsupError, quote } from "../model/errors.ts";
import type { DurationInput } from "../model/duration.ts";
import { sleep } from "../platform/clock.ts";
import { checkOptions } from "./program_input.ts";
import type { CallOptions } from "./options.ts";
import { withinTime } from "../platform/concurrency.ts";

/** Options of `waitForPort()`. */
export interface PortOptions extends CallOptions {
  /** Host; default: this machine. */
  readonly host?: string;
  /** Fail with `timeout` after this time: `"30s"`, or nanoseconds; default `"30s"`. */
  readonly timeout?: DurationInput;
}

const PORT_KEYS: readonly (keyof PortOptions)[] = ["host", "timeout", "signal"];
const PAUSE_MS = 50;

/** Resolves when a TCP port accepts connections. */
export async function waitForPort(port: number, options: PortOptions = {}): Promise<void> {
  const { host = "localhost", timeout = "30s", signal } = checkOptions(options, PORT_KEYS);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new ProcsupError("bad_request", `Invalid port ${quote(port)}: expected 1 to 65535`);
  }
  await withinTime(`Nothing listened at ${host}:${port}`, timeout, signal, async (over) => {
    while (!await answers(host, port, over!)) {
      over!.throwIfAborted();
      await sleep(PAUSE_MS, over);
    }
  });
}

/** A TCP port of 127.0.0.1 that is free now. */
export async function freePort(): Promise<number> {
  const { createServer } = await import("node:net");
  return await new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

async function answers(host: string, port: number, over: AbortSignal): Promise<boolean> {
  if (over.aborted) return false;
  const { connect } = await import("node:net");
  return await new Promise((resolve) => {
    const socket = connect({ host, port });
    const end = (answered: boolean) => {
      over.removeEventListener("abort", giveUp);
      socket.destroy();
      resolve(answered);
    };
    const giveUp = () => end(false);
    over.addEventListener("abort", giveUp);
    socket.once("connect", () => end(true));
    socket.once("error", giveUp);
  });
}
