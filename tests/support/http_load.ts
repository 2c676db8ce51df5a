/** HTTP load with a new connection for each request, and its results. */

import { sleep } from "../../src/platform/clock.ts";

export interface LoadResult {
  readonly requests: number;
  /** Reasons of requests that failed. */
  readonly failures: readonly string[];
  /** Number of answers by their text. */
  readonly answers: ReadonlyMap<string, number>;
}

/** A running load. */
export interface Load {
  /** Requests answered so far. */
  readonly answered: number;
  /** The answers since the last call. */
  recent(): Set<string>;
  stop(): Promise<LoadResult>;
}

const REQUEST = new TextEncoder().encode(
  "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
);

/** Pause of a client between two requests: other tests need the processor too. */
const REST_MS = 8;

/** Starts clients that send one request after the other until stopped. */
export function startLoad(port: number, clients = 8, hostname = "127.0.0.1"): Load {
  let over = false;
  let requests = 0;
  let recent = new Set<string>();
  const failures: string[] = [];
  const answers = new Map<string, number>();
  const client = async () => {
    while (!over) {
      requests++;
      try {
        const answer = await request(port, hostname);
        answers.set(answer, (answers.get(answer) ?? 0) + 1);
        recent.add(answer);
      } catch (error) {
        failures.push((error as Error).message);
      }
      await sleep(REST_MS);
    }
  };
  const all = Promise.all(Array.from({ length: clients }, client));
  return {
    get answered() {
      return requests - failures.length;
    },
    recent() {
      const seen = recent;
      recent = new Set();
      return seen;
    },
    async stop() {
      over = true;
      await all;
      return { requests, failures, answers };
    },
  };
}

/** Sends a request on a new connection and returns the body of the answer. */
export async function request(port: number, hostname = "127.0.0.1"): Promise<string> {
  using connection = await Deno.connect({ port, hostname });
  await connection.write(REQUEST);
  const text = await new Response(connection.readable).text();
  const [head, body] = text.split("\r\n\r\n");
  if (!head!.startsWith("HTTP/1.1 200")) throw new Error(`no answer: ${JSON.stringify(text)}`);
  return body!.replace(/^[0-9a-f]+\r\n([\s\S]*)\r\n0$/, "$1");
}

/**
 * A free port on loopback, below those that the system gives out: a connection of another test cannot
 * get it meanwhile.
 */
export function freePort(): number {
  for (;;) {
    const port = 11_000 + Math.floor(Math.random() * 19_000);
    try {
      Deno.listen({ port, hostname: "127.0.0.1" }).close();
      return port;
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    }
  }
}
