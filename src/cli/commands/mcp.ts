/** `procsup mcp`: the daemon for agents, on standard input and output; `install` tells a client. */

import { messageOf, ProcsupError } from "../../model/errors.ts";
import { readFileIfAny, replaceFile } from "../../platform/atomic_file.ts";
import { configFolder } from "../../platform/os.ts";
import { ownWords } from "../../platform/own_program.ts";
import { defaultHome, dirname } from "../../platform/paths.ts";
import { DaemonClient } from "../../protocol/daemon_client.ts";
import { ndjson } from "../../protocol/ndjson.ts";
import type { CommandContext } from "../command.ts";
import { writeMessage } from "../output.ts";

/** Bridges until the client closes the input, or writes a client's configuration. */
export async function run(context: CommandContext): Promise<void> {
  const [verb, client, ...rest] = context.positionals;
  if (verb === undefined) return await bridge(context);
  if (verb === "install" && client !== undefined && rest.length === 0) {
    return await install(context, client);
  }
  throw new ProcsupError("bad_request", `Cannot "mcp ${context.positionals.join(" ")}"`, {
    hint: "procsup mcp, or: procsup mcp install claude|cursor|vscode",
  });
}

async function bridge({ flags, home }: CommandContext): Promise<void> {
  const { parseToolNames } = await import("../../mcp/tool_names.ts");
  const allow = parseToolNames(flags.text("allow") ?? "");
  const { serveOnStdio } = await import("../../mcp/stdio.ts");
  const daemon = new DaemonClient(home);
  await serveOnStdio((action, payload, options) => daemon.call(action, payload, options), {
    allow,
    readOnly: flags.on("read-only"),
    cwd: Deno.cwd(),
    changes: async (signal) => changesOf(await daemon.stream("/events", signal)),
    // Standard error: clients keep it as a log.
    onError: (error) => writeMessage(`procsup mcp: ${messageOf(error)}\n`),
  });
}

async function* changesOf(stream: ReadableStream<Uint8Array>) {
  for await (const { value } of ndjson<{ type: string; name: string }>(stream, false)) yield value;
}

async function install(context: CommandContext, name: string): Promise<void> {
  const { mcpClient, mergedFile, ownEntry } = await import("../../mcp/client_config.ts");
  const { output, flags } = context;
  const client = mcpClient(name);
  const [program, ...words] = ownWords();
  const command = { command: program, args: [...words, ...await bridgeArgs(context)] };
  if (flags.on("print")) {
    return output.data(JSON.stringify(ownEntry(client, command), null, 2));
  }
  const home = Deno.env.get("HOME") ?? "";
  const path = resolved(client.file({ home, config: configFolder(home) }));
  const merged = mergedFile(client, command, readFileIfAny(path));
  if (merged === undefined) return output.done(`${client.title} knows procsup already (${path})`);
  Deno.mkdirSync(dirname(path), { recursive: true });
  replaceKeepingMode(path, merged);
  output.done(`✔ ${client.title} now knows procsup (${path})`);
  output.note("  hint: restart it, or reload its MCP servers");
}

/** The command that is this bridge, and its flags. The home only where it is not the usual one. */
async function bridgeArgs({ flags, home }: CommandContext): Promise<string[]> {
  const { parseToolNames } = await import("../../mcp/tool_names.ts");
  const allow = parseToolNames(flags.text("allow") ?? "");
  return [
    "mcp",
    ...(home === usualHome() ? [] : ["--home", home]),
    ...(flags.on("read-only") ? ["--read-only"] : []),
    ...(allow.length > 0 ? ["--allow", allow.join(",")] : []),
  ];
}

/** The home that a client's bridge finds by HOME alone. */
function usualHome(): string | undefined {
  return Deno.env.get("PROCSUP_HOME") ? undefined : defaultHome();
}

/** A file that is a link is changed where it really is. */
function resolved(path: string): string {
  try {
    return Deno.realPathSync(path);
  } catch {
    return path;
  }
}

function replaceKeepingMode(path: string, text: string): void {
  const mode = modeOf(path);
  replaceFile(path, text);
  if (mode !== undefined) Deno.chmodSync(path, mode);
}

function modeOf(path: string): number | undefined {
  try {
    return Deno.statSync(path).mode! & 0o777;
  } catch {
    return undefined;
  }
}
