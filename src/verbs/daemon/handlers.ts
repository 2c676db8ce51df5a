/** The verbs on the daemon itself: saved state, its token, shutdown, host, ports and contexts. */

import { ifPossible, messageOf, ProcsupError } from "../../model/errors.ts";
import { diskOf, HostMeter } from "../../platform/host.ts";
import { listeningPorts } from "../../platform/scan/listening_ports.ts";
import type { DAEMON_VERBS } from "./rows.ts";
import { PROTOCOL, VERSION } from "../../protocol/version.ts";
import type { ContextJson, PortsJson } from "../../protocol/wire.ts";
import { bulkResult, type Handlers, type VerbContext } from "../../daemon/verb_context.ts";

const meter = new HostMeter();
const startedAt = performance.now();

export const DAEMON_HANDLERS: Handlers<keyof typeof DAEMON_VERBS> = {
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
    supervisor.refuseClosed();
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
      process_count: supervisor.directory.list().length,
      hostname,
      platform,
      arch,
      daemon: {
        pid: Deno.pid,
        version: VERSION,
        memory_bytes: Deno.memoryUsage().rss,
        uptime_seconds: Math.floor((performance.now() - startedAt) / 1000),
        restarts_last_hour: supervisor.restartsLastHour,
        releases: supervisor.releaseCounts,
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
  contexts: (context) => asked ??= readAllContexts(context).finally(() => asked = undefined),
  ports({ supervisor }) {
    const now = performance.now();
    if (last === undefined || now - last.at > MAX_AGE_MS) {
      last = { at: now, answer: readPorts(supervisor) };
    }
    return last.answer;
  },
};

/** How long an answer is reused: many clients may ask at once. */
const MAX_AGE_MS = 2000;

let last: { readonly at: number; readonly answer: readonly PortsJson[] } | undefined;

function readPorts(supervisor: VerbContext["supervisor"]): PortsJson[] {
  const up = supervisor.directory.list().flatMap(({ name, identity, snapshot }) => {
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
async function readAllContexts({ paths, copiesOn }: VerbContext): Promise<ContextJson[]> {
  const [{ askContexts }, { destinationText }] = await Promise.all([
    import("../../contexts/all_contexts.ts"),
    import("../../contexts/contexts.ts"),
  ]);
  const answers = await askContexts(() => paths.home, async (engine, signal) => {
    if (engine.stack !== undefined) return await copiesOn(engine, signal);
    throw new ProcsupError(
      "bad_request",
      "The context names no stack, and the daemon has no folder",
    );
  });
  return answers.map(({ context, destination, url, processes, copies, error }) => ({
    context,
    destination: destination === undefined ? "" : destinationText(destination),
    ...(error !== undefined && { error: messageOf(error) }),
    ...(url !== undefined && { url }),
    apps: [
      ...processes.map(({ name, state, ready, last_reason: reason }) => (
        { name, state, ready, reason }
      )),
      ...copies.map(({ name, state, ready, reason }) => ({ name, state, ready, reason })),
    ],
  }));
}
