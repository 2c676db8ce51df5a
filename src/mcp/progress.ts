/** Tells a client that asked for it that a call is still at work, so that its patience lasts. */

import type { ServerContext } from "@modelcontextprotocol/server";

/** When the first word comes, and how much later each other one. */
const FIRST_MS = 1_000;
const EVERY_MS = 5_000;

/** Tells how long it takes, in seconds, until it is disposed of. Nothing for a client that asked for none. */
export function tellProgress(what: string, { mcpReq }: ServerContext): Disposable {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return { [Symbol.dispose]() {} };
  const begun = performance.now();
  const tell = () => {
    const progress = Math.round((performance.now() - begun) / 1000);
    const message = `${what}: ${progress} s so far`;
    // A client that has gone wants no word.
    mcpReq.notify({
      method: "notifications/progress",
      params: { progressToken, progress, message },
    }).catch(() => {});
    timer = setTimeout(tell, EVERY_MS);
  };
  let timer = setTimeout(tell, FIRST_MS);
  return {
    [Symbol.dispose]() {
      clearTimeout(timer);
    },
  };
}
