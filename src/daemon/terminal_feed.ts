/** Streams what an app writes to its terminal. */

import { LogFollower } from "../logs/log_follower.ts";
import { startOfTail } from "../logs/log_tail.ts";
import type { Supervisor } from "../manager/supervisor.ts";
import type { TerminalPiece } from "../protocol/change_json.ts";

/** Poll interval of the log: short, since it echoes what is typed. */
const POLL_MS = 15;

/** Where to begin: at a position, or `lines` before the end. */
interface FeedStart {
  readonly from?: number | undefined;
  readonly lines: number;
}

/** Streams the output of an app until it ends for good. Throws `process_not_found`. */
export function terminalFeed(
  supervisor: Supervisor,
  target: string,
  { from, lines }: FeedStart,
): ReadableStream<TerminalPiece> {
  const process = supervisor.process(target);
  const path = process.logs.stdout;
  const follower = new LogFollower(path, {
    ...{ follow: true, pollMs: POLL_MS },
    begin: (span, cursor) => {
      // Older output is of a deleted app.
      const floor = Math.max(span.base, span.from);
      return from === undefined
        ? startOfTail(path, cursor, span, lines, floor)
        : Math.min(Math.max(from, floor), span.end);
    },
  });
  const left = new AbortController();
  const finish = () => follower.finish();
  supervisor.waitFor(process.name, "exit", left).then(finish, finish);
  const decoder = new TextDecoder();
  return new ReadableStream<TerminalPiece>({
    async pull(out) {
      const bytes = await follower.next();
      if (bytes !== undefined) {
        const text = decoder.decode(bytes, { stream: true });
        return out.enqueue({ text, position: follower.position, pid: process.snapshot.pid });
      }
      follower.close();
      if (left.signal.aborted) return;
      const { lastReason, lastExit } = process.info();
      out.enqueue({ ended: lastReason, code: lastExit?.code ?? null });
      out.close();
    },
    cancel() {
      left.abort();
      follower.stop();
    },
  });
}
