/** `ping`, `token` and `shutdown`: the daemon itself. */

import * as z from "zod/mini";
import {
  type BulkResult,
  type PingJson,
  PROTOCOL,
  type ReleaseJson,
  VERSION,
} from "../../protocol/actions.ts";
import { type ActionContext, bulkResult } from "./context.ts";
import { readPayload } from "./payload.ts";

const tokenPayload = z.optional(z.strictObject({ rotate: z.optional(z.boolean()) }));

/** Says that it is there. Needs no token, and tells nothing about the processes. */
export function ping(): PingJson {
  return { status: "ok", version: VERSION, protocol: PROTOCOL };
}

/** The token; a new one on request. */
export function token({ token, web }: ActionContext, payload: unknown): { token: string } {
  const { rotate = false } = readPayload(tokenPayload, payload ?? undefined) ?? {};
  if (!rotate) return { token: token.value };
  const fresh = token.rotate();
  // Whoever signed in did so in the name of the old one.
  web.gatekeeper.ownerChanged();
  return { token: fresh };
}

const releasePayload = z.optional(
  z.strictObject({ upgrade_to: z.optional(z.string().check(z.maxLength(100))) }),
);

/** Ends the daemon and leaves every process running, for its successor. */
export function release(
  { endDaemon, farewell, web }: ActionContext,
  payload: unknown,
): ReleaseJson {
  const { upgrade_to: to } = readPayload(releasePayload, payload ?? undefined) ?? {};
  if (to !== undefined) {
    const news = { type: "upgrading", at: new Date().toISOString(), from: VERSION, to } as const;
    farewell.say(news);
    web.tell(news);
  }
  // The answer goes out first.
  setTimeout(endDaemon, 0);
  return { status: "released", pid: Deno.pid };
}

/** Stops all processes, the last one first, and then the daemon. */
export async function shutdown(context: ActionContext): Promise<BulkResult> {
  const outcomes = await context.manager.fleet.shutDown();
  context.farewell.say({ type: "shutdown", at: new Date().toISOString() });
  context.endDaemon();
  return bulkResult(context, "stopped", outcomes);
}
