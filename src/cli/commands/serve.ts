/** `procsup serve`: starts an app that serves the files of a folder with `procsup serve-files`. */

import { createServer } from "node:http";
import type { Socket } from "node:net";
import { messageOf, ProcsupError } from "../../model/errors.ts";
import { addressText, isLocal } from "../../model/listen_address.ts";
import { nameFromPath } from "../../model/name.ts";
import { fromHere, here } from "../../platform/files/paths.ts";
import { onSignals } from "../../platform/scan/signals.ts";
import { lookAt } from "../../platform/files/stat.ts";
import type { CommandContext } from "../command.ts";
import { connect, withDaemonStarted } from "../connect.ts";
import { withProcesses } from "../progress.ts";
import { printResults } from "../results.ts";

const PORT = 8080;
const EVERYWHERE = "0.0.0.0";

/** First words of `serve-files` when it listens: the app is ready. */
const SERVING = "Serving ";

/** Starts the app that serves. */
export async function serve(context: CommandContext): Promise<number> {
  const { folder, port, bind, spa } = filesOf(context);
  const { flags } = context;
  const payload = {
    name: flags.text("name") ?? nameFromPath(folder),
    entrypoint: "procsup",
    args: ["serve-files", folder, "--port", `${port}`, "--bind", bind, ...(spa ? ["--spa"] : [])],
    cwd: here(),
    ready_log: `^${SERVING}`,
    wait_ready: true,
    wait: !flags.on("no-wait"),
  };
  const start = () => withProcesses(context, () => connect(context).call("start", payload));
  const { results } = await withDaemonStarted(context, start);
  const code = await printResults(context.output, { status: "started", results });
  if (code === 0 && context.output.isForPeople) {
    const address = { hostname: bind, port };
    const reach = isLocal(bind) ? "" : "; other machines can open it, unless --bind 127.0.0.1";
    context.output.done(`  http://${addressText(address)}${reach}`);
  }
  return code;
}

/** The process of the app: serves until it is stopped. */
export async function serveFiles(context: CommandContext): Promise<void> {
  const { folder, port, bind, spa } = filesOf(context);
  const { serveFile } = await import("../static_files.ts");
  const files = { folder: Deno.realPathSync(folder), spa };
  const server = createServer((request, response) => serveFile(request, response, files));
  const over = Promise.withResolvers<void>();
  const address = addressText({ hostname: bind, port });
  server.once("error", (error: Error & { readonly code?: string }) => {
    const isTaken = error.code === "EADDRINUSE";
    const why = isTaken ? "another program has the port" : messageOf(error);
    const hint = isTaken ? "Choose another one: --port N" : undefined;
    over.reject(new ProcsupError("start_failed", `Cannot listen on ${address}: ${why}`, { hint }));
  });
  server.listen(port, bind, () => {
    context.output.content(`${SERVING}${folder} at http://${address}`);
  });
  // Also those without a request yet, which browsers open ahead and Node does not count as idle.
  const idle = new Set<Socket>();
  let isEnding = false;
  const rest = (socket: Socket) => {
    if (isEnding) socket.destroy();
    // A client that went away during an answer has closed it.
    else if (!socket.destroyed) idle.add(socket);
  };
  server.on("connection", (socket) => {
    rest(socket);
    socket.once("close", () => idle.delete(socket));
  });
  server.on("request", ({ socket }, response) => {
    idle.delete(socket);
    response.once("close", () => rest(socket));
  });
  using _signals = onSignals(["SIGTERM", "SIGINT"], () => {
    isEnding = true;
    server.close(() => over.resolve());
    for (const socket of idle) socket.destroy();
  });
  await over.promise;
}

function filesOf({ positionals: [word = "."], flags }: CommandContext) {
  const folder = fromHere(word);
  if (!lookAt(folder)?.isDirectory) {
    const problem = lookAt(folder) === undefined ? "no such folder" : "it is not a folder";
    throw new ProcsupError("bad_request", `Cannot serve ${folder}: ${problem}`);
  }
  const port = flags.int("port") ?? PORT;
  if (port < 1 || port > 65535) {
    throw new ProcsupError("bad_request", `Invalid value ${port} for --port: expected 1 to 65535`);
  }
  return { folder, port, bind: flags.text("bind") ?? EVERYWHERE, spa: flags.on("spa") };
}
