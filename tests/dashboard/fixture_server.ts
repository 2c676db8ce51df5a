/** The dashboard with any number of fake processes. */

import { ASSETS } from "../../src/web/dashboard/assets.ts";

/** A server that answers the dashboard's first requests, and pushes all rows every half second. */
export function fixtureServer(count: number): { readonly origin: string } & AsyncDisposable {
  const sockets = new Set<WebSocket>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    const { pathname } = new URL(request.url);
    const asset = ASSETS[pathname];
    if (asset) return new Response(asset.text, { headers: { "content-type": asset.type } });
    if (pathname === "/api/v1/session") return Response.json({ name: "", role: "admin" });
    if (pathname !== "/ws") return Response.json({ error: "No such path" }, { status: 404 });
    const { socket, response } = Deno.upgradeWebSocket(request);
    const push = () => {
      if (socket.readyState !== WebSocket.OPEN) return;
      const message = { type: "processes", all: true, rows: processes(count), gone: [] };
      socket.send(JSON.stringify(message));
    };
    const timer = setInterval(push, 500);
    socket.onopen = push;
    socket.onclose = () => (clearInterval(timer), sockets.delete(socket));
    sockets.add(socket);
    return response;
  });
  return {
    origin: `http://127.0.0.1:${server.addr.port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.close();
      await server.shutdown();
    },
  };
}

const STARTED = new Date(Date.now() - 3_600_000).toISOString();

function processes(count: number): unknown[] {
  return Array.from({ length: count }, (_, index) => ({
    id: (0x10000000 + index).toString(16),
    numeric_id: index,
    name: `app-${Math.floor(index / 4)}:${index % 4}`,
    namespace: `team-${index % 7}`,
    instance_index: index % 4,
    runtime: "deno",
    state: index % 50 === 0 ? "crashed" : "running",
    pid: index % 50 === 0 ? 0 : 1000 + index,
    exit_code: 0,
    restarts: index % 9,
    created_at: STARTED,
    started_at: STARTED,
    finished_at: null,
    config: { entrypoint: "server.ts", cwd: "/srv" },
    cpu_percent: Math.random() * 30,
    memory_bytes: Math.round(5e7 + Math.random() * 1e7),
    mem_percent: 1,
    threads: 8,
    fds: 20,
    tags: ["http"],
    uptime: 1e12,
    ready: true,
    health: "unknown",
    next_restart_at: null,
    last_reason: "",
    last_exit: null,
  }));
}
