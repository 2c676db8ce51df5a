/** The verbs about the web surface: the listener, its tokens, and the machine's figures. */

import * as z from "zod/mini";
import { HostMeter } from "../../platform/host.ts";
import { VERSION } from "../../protocol/actions.ts";
import type { SystemMetricsJson, WebActionMap } from "../../protocol/web_actions.ts";
import type { ActionContext } from "./context.ts";
import { readPayload } from "./payload.ts";

type Data<A extends keyof WebActionMap> = WebActionMap[A]["data"];

const startPayload = z.optional(z.strictObject({
  listen: z.optional(z.string()),
  allow_remote: z.optional(z.boolean()),
  hosts: z.optional(z.array(z.string().check(z.minLength(1))).check(z.maxLength(100))),
  max_clients: z.optional(z.int().check(z.minimum(1), z.maximum(10_000))),
}));

/** Listens on TCP. */
export async function webStart(
  { web }: ActionContext,
  payload: unknown,
): Promise<Data<"web_start">> {
  const given = readPayload(startPayload, payload ?? undefined) ?? {};
  return await web.start(
    Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
  );
}

/** Stops listening. */
export async function webStop({ web }: ActionContext): Promise<Data<"web_stop">> {
  return await web.stop();
}

/** Whether it listens. */
export function webStatus({ web }: ActionContext): Data<"web_status"> {
  return web.status();
}

/** A link that signs in. */
export function webLink({ web, by }: ActionContext): Data<"web_link"> {
  return web.link(by);
}

const createPayload = z.strictObject({ name: z.string(), role: z._default(z.string(), "read") });

/** Makes a named token. */
export async function tokenCreate(
  { web }: ActionContext,
  payload: unknown,
): Promise<Data<"token_create">> {
  const { name, role } = readPayload(createPayload, payload);
  return await web.tokens.create(name, role);
}

/** The named tokens. */
export function tokenList({ web }: ActionContext): Data<"token_list"> {
  return web.tokens.list();
}

const revokePayload = z.strictObject({ name: z.string() });

/** Revokes a named token; what is open by it, and by its sessions, ends. */
export function tokenRevoke({ web }: ActionContext, payload: unknown): Data<"token_revoke"> {
  web.gatekeeper.revoke(readPayload(revokePayload, payload).name);
  return { status: "revoked" };
}

const meter = new HostMeter();
const startedAt = performance.now();

/** The machine and the daemon. */
export function systemMetrics({ manager }: ActionContext): SystemMetricsJson {
  const { hostname, platform, arch, ...figures } = meter.read();
  return {
    ...figures,
    process_count: manager.fleet.registry.list().length,
    hostname,
    platform,
    arch,
    daemon: {
      pid: Deno.pid,
      version: VERSION,
      memory_bytes: Deno.memoryUsage().rss,
      uptime_seconds: Math.floor((performance.now() - startedAt) / 1000),
      restarts_last_hour: manager.fleet.registry.restartsLastHour,
    },
  };
}
