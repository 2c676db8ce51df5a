/**
 * The list of processes on a way of its own: what is asked most is a buffer that is there already, and
 * making a Request and a Response around it would cost three times as much as sending it.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { claim } from "./connections.ts";
import { allow, type Gatekeeper } from "./gatekeeper.ts";
import { JSON_HEADERS } from "./reply.ts";
import { BASE } from "./routes.ts";
import { SECRET_HEADER } from "./sessions.ts";
import type { SiteNames } from "./same_site.ts";
import type { Snapshots } from "./snapshots.ts";

/** What it takes to answer. */
export interface ShortcutParts {
  readonly names: SiteNames;
  readonly gatekeeper: Gatekeeper;
  readonly snapshots: Snapshots;
}

const PATH = `${BASE}/processes`;

/** Answers, by the rules of every route. False when it is not for it: nothing has been done then. */
export async function answerList(
  { method, url, headers, socket }: IncomingMessage,
  response: ServerResponse,
  { names, gatekeeper, snapshots }: ShortcutParts,
): Promise<boolean> {
  if (method !== "GET" || url !== PATH) return false;
  try {
    const { host, origin, authorization, cookie } = headers;
    const fetchSite = headers["sec-fetch-site"] as string | undefined;
    names.check({ host, origin, fetchSite }, false);
    const address = socket.remoteAddress ?? "local";
    const secret = headers[SECRET_HEADER] as string | undefined;
    const principal = gatekeeper.recognise({ authorization, cookie, secret, address });
    if (principal === undefined) return false;
    allow(principal, "list");
    claim(socket, principal);
    const body = await snapshots.list();
    response.writeHead(200, { ...JSON_HEADERS, "content-length": body.length });
    response.end(body);
    return true;
  } catch {
    // The route itself has the words for it.
    return false;
  }
}
