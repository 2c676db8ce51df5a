/** `procsup web`: the dashboard and the REST API on TCP. */

import { isLocal } from "../../model/listen_address.ts";
import { shellWord } from "../../model/shell_line.ts";
import type { WebJson } from "../../protocol/wire.ts";
import type { CommandContext } from "../command.ts";
import { connect, withDaemonStarted } from "../connect.ts";
import { printData, printDone } from "../output.ts";
import { refuseFlags, verbIn } from "../unknown_word.ts";

/** Exit code if the web server is not running. */
const NOT_RUNNING = 3;

/** Starts the web server if needed and prints the link, or runs a verb. */
export async function web(context: CommandContext): Promise<number | void> {
  const [verb] = context.positionals;
  if (verb === undefined) return await startAndOpen(context);
  const act = verbIn("web", { start, stop, status, open }, verb);
  if (act !== start) refuseFlags(context, `web ${verb}`);
  return await act(context);
}

async function startAndOpen(context: CommandContext): Promise<void> {
  const web = await withDaemonStarted(context, () => callStart(context));
  if (web.status === "started") context.output.note(`web listens on ${web.addr}`);
  await open(context);
}

async function start(context: CommandContext): Promise<void> {
  const web = await callStart(context);
  if (await printData(context.output, web, [web.url])) return;
  const how = web.status === "started" ? "listens" : "listens already";
  context.output.done(`✔ web ${how} on ${web.addr}`);
  context.output.note("  hint: procsup web open");
}

async function callStart(context: CommandContext): Promise<WebJson> {
  const { flags } = context;
  const given = (name: string) => flags.list(name).length === 0 ? undefined : flags.list(name);
  const web = await connect(context).call("web_start", {
    listen: flags.text("listen"),
    allow_remote: flags.on("allow-remote") || undefined,
    hosts: given("allow-host"),
    base_path: flags.text("base-path"),
    trusted_proxies: given("trusted-proxy"),
  });
  noteWarning(context, web);
  return web;
}

function noteWarning({ output }: CommandContext, { warning }: WebJson): void {
  if (warning !== undefined) output.note(`warning: ${warning}`);
}

async function stop(context: CommandContext): Promise<void> {
  const web = await connect(context).call("web_stop");
  await printDone(context.output, web, "web is stopped");
}

async function status(context: CommandContext): Promise<number> {
  const web = await connect(context).call("web_status");
  const running = web.status === "running";
  noteWarning(context, web);
  if (!await printData(context.output, web, running ? [web.url] : [])) {
    context.output.data(running ? `web listens on ${web.addr}` : "web is stopped");
  }
  return running ? 0 : NOT_RUNNING;
}

/** The command that forwards a port to another machine's daemon, whose URL may be hostile. Pure. */
export function forwarding(url: string, destination: string): string {
  const { host, port } = new URL(url);
  return `ssh -L ${[`${port}:${host}`, destination].map(shellWord).join(" ")}`;
}

async function open(context: CommandContext): Promise<void> {
  const link = await connect(context).call("web_link");
  if (await printData(context.output, link, [link.url])) return;
  if (context.host !== undefined && isLocal(new URL(link.url).hostname)) {
    context.output.note(`from here: ${forwarding(link.url, context.host.destination)}`);
  }
  context.output.note(`sign in within ${link.expires_in_seconds} seconds, once:`);
  context.output.data(link.url);
}
