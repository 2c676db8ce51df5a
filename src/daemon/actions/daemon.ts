/**
 * The verbs on the daemon itself: saved state, tokens, shutdown, host, ports, the web listener and
 * webhooks.
 */

import type { Engine } from "../../contexts/contexts.ts";
import type { Copy } from "../../export/backends/mod.ts";
import { ifPossible, messageOf, ProcsupError } from "../../model/errors.ts";
import { onlyGiven } from "../../model/merge_patch.ts";
import { diskOf, HostMeter } from "../../platform/host.ts";
import { listeningPorts } from "../../platform/scan/listening_ports.ts";
import type { DAEMON_VERBS } from "../../protocol/verbs/daemon.ts";
import type { WEB_VERBS, WEBHOOK_VERBS } from "../../protocol/verbs/web.ts";
import { PROTOCOL, VERSION } from "../../protocol/version.ts";
import type { ContextJson, PortsJson } from "../../protocol/wire.ts";
import { type VerbContext, bulkResult, type Handlers } from "./context.ts";

const meter = new HostMeter();
const startedAt = performance.now();

export const DAEMON_HANDLERS: Handlers<
  keyof typeof DAEMON_VERBS | keyof typeof WEB_VERBS | keyof typeof WEBHOOK_VERBS
> = {
  ping: () => ({ status: "ok", version: VERSION, protocol: PROTOCOL }),
  async save({ supervisor }, { allow_empty }) {
    return { status: "saved", count: await supervisor.save({ allowEmpty: allow_empty }) };
  },
  async resurrect({ supervisor }) {
    return { status: "resurrected", ...await supervisor.resurrect() };
  },
  token({ token, web }, { rotate }) {
    if (!rotate) return { token: token.value };
    const fresh = token.rotate();
    // Sessions were opened with the old token.
    web.gatekeeper.ownerChanged();
    return { token: fresh };
  },
  release({ supervisor, endDaemon, shutdownNotice }, { upgrade_to: to }) {
    supervisor.registry.refuseClosed();
    if (to !== undefined) {
      shutdownNotice.say({ type: "upgrading", at: new Date().toISOString(), from: VERSION, to });
    }
    // Send the answer first.
    setTimeout(endDaemon, 0);
    return { status: "released", pid: Deno.pid };
  },
  /** Stops all processes in reverse order, then the daemon. */
  async shutdown(context) {
    const outcomes = await context.supervisor.shutDown();
    context.shutdownNotice.say({ type: "shutdown", at: new Date().toISOString() });
    context.endDaemon();
    return bulkResult("stopped", outcomes);
  },
  system_metrics({ supervisor }) {
    const { hostname, platform, arch, ...figures } = meter.read();
    return {
      ...figures,
      process_count: supervisor.registry.list().length,
      hostname,
      platform,
      arch,
      daemon: {
        pid: Deno.pid,
        version: VERSION,
        memory_bytes: Deno.memoryUsage().rss,
        uptime_seconds: Math.floor((performance.now() - startedAt) / 1000),
        restarts_last_hour: supervisor.registry.restartsLastHour,
      },
    };
  },
  async system_info({ paths }) {
    const { total, available } = await diskOf(paths.home);
    return {
      home: paths.home,
      socket: paths.socket,
      saved_at: ifPossible(() => Deno.statSync(paths.saved).mtime?.toISOString()) ?? null,
      disk_total: total,
      disk_available: available,
    };
  },
  /** Clients that ask at the same time get one answer. */
  contexts: ({ paths }) => asked ??= readAllContexts(paths.home).finally(() => asked = undefined),
  ports({ supervisor }) {
    const now = performance.now();
    if (last === undefined || now - last.at > MAX_AGE_MS) {
      last = { at: now, answer: readPorts(supervisor) };
    }
    return last.answer;
  },
  web_start: ({ web }, given) => web.start(onlyGiven(given)),
  web_stop: ({ web }) => web.stop(),
  web_status: ({ web }) => web.status(),
  web_link: ({ web, by }) => web.link(by),
  token_create: ({ web }, { name, ...grant }) => web.tokens.create(name, grant),
  token_list: ({ web }) => web.tokens.list(),
  token_revoke({ web }, { name }) {
    web.gatekeeper.revoke(name);
    return { status: "revoked" };
  },
  webhook_list: ({ webhooks }) => webhooks.status(),
  webhook_set: ({ webhooks, supervisor, paths }, { name, ...keys }) =>
    webhooks.set(supervisor, { ...keys, name }, paths.home),
  async webhook_delete({ webhooks, supervisor }, { name }) {
    await webhooks.delete(supervisor, name);
    return { status: "deleted" };
  },
  webhook_test: ({ webhooks }, { name }) => webhooks.test(name),
};

/** How long an answer is reused: many clients may ask at once. */
const MAX_AGE_MS = 2000;

let last: { readonly at: number; readonly answer: readonly PortsJson[] } | undefined;

function readPorts(supervisor: VerbContext["supervisor"]): PortsJson[] {
  const up = supervisor.registry.list().flatMap(({ name, identity, snapshot }) => {
    const root = snapshot.run?.wrapperPid;
    return root ? [{ root, name, id: identity.id.slice(0, 8) }] : [];
  });
  const found = listeningPorts(up.map(({ root }) => root));
  return up.flatMap(({ root, name, id }) => {
    const ports = found.get(root);
    return ports === undefined ? [] : [{ name, id, ports }];
  });
}

let asked: Promise<ContextJson[]> | undefined;

/** This machine and all contexts. Throws `invalid_config` when their file cannot be read. */
async function readAllContexts(home: string): Promise<ContextJson[]> {
  const [{ askContexts }, { destinationText }] = await Promise.all([
    import("../../contexts/all_contexts.ts"),
    import("../../contexts/contexts.ts"),
  ]);
  const answers = await askContexts(() => home, copiesOn);
  return answers.map(({ context, destination, processes, copies, error }) => ({
    context,
    destination: destination === undefined ? "" : destinationText(destination),
    ...(error !== undefined && { error: messageOf(error) }),
    apps: [
      ...processes.map(({ name, state, ready, last_reason: reason }) => (
        { name, state, ready, reason }
      )),
      ...copies.map(({ name, state, ready, reason }) => ({ name, state, ready, reason })),
    ],
  }));
}

async function copiesOn(engine: Engine, signal: AbortSignal): Promise<Copy[]> {
  if (engine.stack === undefined) {
    throw new ProcsupError(
      "bad_request",
      "The context names no stack, and the daemon has no folder",
    );
  }
  const { openBackend } = await import("../../export/backends/mod.ts");
  return await (await openBackend({ ...engine, signal }, "/")).list();
}
