/** A fake daemon for tests of the real command line. */

import { answered, failure } from "../../src/protocol/envelope.ts";
import type { ProcessJson, VerbName } from "../../src/protocol/wire.ts";
import type { Ran } from "../support/output_of.ts";
import { run } from "../support/run_command.ts";

/** The data that a fake daemon answers with, or a throw for a failure. */
export type Answers = { readonly [A in VerbName]?: (payload: unknown) => unknown };

interface RequestEnvelope {
  readonly action: string;
  readonly payload?: unknown;
}

/** A fake daemon in a temporary home; `await using` removes both. */
export class FakeDaemon implements AsyncDisposable {
  readonly home: string = Deno.makeTempDirSync({ prefix: "procsup_cli_" });
  /** All requests, in order. */
  readonly requests: RequestEnvelope[] = [];
  /** The path and query of every stream that was opened. */
  readonly streams: string[] = [];
  /** Headers of every answer to a request. */
  headers: Record<string, string> = {};
  readonly #server: Deno.HttpServer;

  constructor(given: Answers, streamed: readonly unknown[] = []) {
    const answers: Answers = { ports: () => [], ...given };
    this.#server = Deno.serve({
      path: `${this.home}/procsup.sock`,
      onListen: () => {},
    }, async (request) => {
      const { pathname, search } = new URL(request.url);
      if (pathname !== "/ipc") {
        this.streams.push(pathname + search);
        return new Response(streamed.map((item) => `${JSON.stringify(item)}\n`).join(""));
      }
      const envelope = await request.json() as RequestEnvelope;
      this.requests.push(envelope);
      try {
        const answer = answers[envelope.action as VerbName];
        const { envelope: reply, status } = answered(await answer?.(envelope.payload));
        return Response.json(reply, { status, headers: this.headers });
      } catch (error) {
        const { envelope, status } = failure(error);
        return Response.json(envelope, { status });
      }
    });
  }

  /** Runs the real command line against this daemon. */
  run(...args: string[]): Promise<Ran> {
    return runCommandLine(args, { PROCSUP_HOME: this.home });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
    Deno.removeSync(this.home, { recursive: true });
  }
}

/** Runs the real command line. */
export async function runCommandLine(
  args: readonly string[],
  env: Record<string, string> = {},
  cwd = Deno.cwd(),
): Promise<Ran> {
  return await run(args, { env: { PROCSUP_NO_AUTOSTART: "1", ...env }, cwd });
}

/** A running process called `api`, with some changes. */
export function fakeProcess(different: Partial<ProcessJson> = {}): ProcessJson {
  return {
    id: "1f3a9c00",
    numeric_id: 0,
    name: "api",
    namespace: "default",
    instance_index: 0,
    runtime: "deno",
    state: "running",
    pid: 4121,
    exit_code: 0,
    restarts: 2,
    created_at: "2026-01-02T03:04:05.000Z",
    started_at: "2026-01-02T03:04:05.000Z",
    finished_at: null,
    config: { name: "api", entrypoint: "/srv/api.ts", cwd: "/srv", args: ["--port", "80 80"] },
    cpu_percent: 1.23,
    memory_bytes: 48 * 1024 ** 2,
    mem_percent: 0.5,
    threads: 9,
    fds: 20,
    tags: [],
    uptime: 7_980_000_000_000,
    ready: true,
    health: "unknown",
    next_restart_at: null,
    last_reason: "started by user",
    last_exit: null,
    ...different,
  };
}
