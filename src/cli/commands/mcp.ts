/** `procsup mcp`: an MCP server on standard input and output; `install` adds it to a client. */

import { ifPossible, messageOf, ProcsupError } from "../../model/errors.ts";
import { dirname } from "@std/path";
import { readFileIfAny, replaceFile } from "../../platform/files/atomic_file.ts";
import { configFolder } from "../../platform/os.ts";
import { ownWords } from "../../platform/own_program.ts";
import { defaultHome, here } from "../../platform/files/paths.ts";
import { lookAt } from "../../platform/files/stat.ts";
import { wayProblem } from "../../platform/files/way.ts";
import { unending } from "../../protocol/streams.ts";
import type { McpClient } from "../../mcp/client_config.ts";
import type { Grant } from "../../mcp/tool_names.ts";
import type { CommandContext } from "../command.ts";
import { connectQuietly } from "../connect.ts";
import type { Flags } from "../flags.ts";
import { writeMessage } from "../output.ts";
import { refuseFlags, verbIn, wordAfter } from "../unknown_word.ts";

/** Serves until the client closes the input, or changes a client's configuration. */
export async function mcp(context: CommandContext): Promise<void> {
  const [verb, client] = context.positionals;
  if (verb === undefined) return await bridge(context);
  const act = verbIn("mcp", { install, uninstall }, verb);
  if (act === uninstall) refuseFlags(context, "mcp uninstall");
  await act(context, wordAfter(`mcp ${verb}`, client, "a client"));
}

const NARROWING = ["toolsets", "read-only", "allow"];

/** Reads `--toolsets`, `--read-only` and `--allow`. Throws `bad_request` if they leave no tool. */
async function grantIn(flags: Flags): Promise<Grant> {
  const { grantedTools, parseToolNames, parseToolsets } = await import("../../mcp/tool_names.ts");
  const allowed = flags.text("allow");
  const sets = flags.text("toolsets") ?? (allowed === undefined ? "core" : "all");
  const grant: Grant = {
    toolsets: parseToolsets(sets),
    ...(flags.on("read-only") ? { role: "read" } : {}),
    ...(allowed === undefined ? {} : { allow: parseToolNames(allowed) }),
  };
  if (grantedTools(grant).size > 0) return grant;
  const given = flags.names().filter((name) => NARROWING.includes(name))
    .map((name) => `"--${name}"`);
  throw new ProcsupError("bad_request", `${given.join(" and ")} leave no tool`);
}

async function bridge(context: CommandContext): Promise<void> {
  refuseFlags(context, "mcp", NARROWING);
  const grant = await grantIn(context.flags);
  const { serveOnStdio } = await import("../../mcp/stdio.ts");
  const daemon = connectQuietly(context);
  await serveOnStdio((verb, payload, options) => daemon.call(verb, payload, options), {
    ...grant,
    ...await cwdOf(context),
    changes: async (signal) => unending(await daemon.stream("/events", signal)),
    // Clients keep standard error as a log.
    onError: (error) => writeMessage(`procsup mcp: ${messageOf(error)}\n`),
  });
}

/** Base of relative paths. Omitted for an unreachable machine, so that the client gets answers. */
async function cwdOf({ host }: CommandContext): Promise<{ readonly cwd?: string }> {
  if (host === undefined) return { cwd: here() };
  return await host.hello().then(({ cwd }) => ({ cwd }), () => ({}));
}

async function install(context: CommandContext, name: string): Promise<void> {
  const { mcpClient, mergedFile, ownEntry } = await import("../../mcp/client_config.ts");
  const { output, flags } = context;
  const client = mcpClient(name);
  const [program, ...words] = ownWords();
  const command = { command: program, args: [...words, ...await bridgeArgs(context)] };
  if (flags.on("print")) return output.json(ownEntry(client, command), 2);
  const path = fileOf(client);
  const merged = mergedFile(client, command, readFileIfAny(path));
  if (merged === undefined) return output.done(`${client.title} already has procsup (${path})`);
  Deno.mkdirSync(dirname(path), { recursive: true });
  replaceKeepingMode(path, merged.text);
  output.done(`✔ ${client.title} now has procsup (${path})`);
  if (merged.before !== undefined) output.note(`  before: ${merged.before}`);
  output.note("  hint: restart it, or reload its MCP servers");
}

async function uninstall({ output }: CommandContext, name: string): Promise<void> {
  const { clearedFile, mcpClient } = await import("../../mcp/client_config.ts");
  const client = mcpClient(name);
  const path = fileOf(client);
  const cleared = clearedFile(client, readFileIfAny(path));
  if (cleared === undefined) return output.done(`${client.title} does not have procsup (${path})`);
  replaceKeepingMode(path, cleared);
  output.done(`✔ ${client.title} no longer has procsup (${path})`);
}

/**
 * Path of a client's configuration file, with links resolved. Throws `home_unusable`, also as root
 * in the home of another user, whose links could lead to any file.
 */
function fileOf(client: McpClient): string {
  const home = Deno.env.get("HOME");
  if (!home) {
    throw new ProcsupError(
      "home_unusable",
      `Cannot find the file of ${client.title}: HOME is not set`,
    );
  }
  const claude = Deno.env.get("CLAUDE_CONFIG_DIR");
  const path = client.file({ home, claude, config: configFolder(home) });
  const problem = Deno.uid() === 0 ? wayProblem(path) : undefined;
  if (problem !== undefined) {
    throw new ProcsupError("home_unusable", `Cannot use the file of ${client.title}: ${problem}`, {
      hint: "Run it as the user of the client, without sudo",
    });
  }
  return ifPossible(() => Deno.realPathSync(path)) ?? path;
}

/** The arguments that run this MCP server. Includes the home only if it is not the default. */
async function bridgeArgs({ flags, home, host }: CommandContext): Promise<string[]> {
  const { role, allow } = await grantIn(flags);
  const toolsets = flags.text("toolsets");
  // The home of a server without --home, which a client starts without our variables.
  const usual = Deno.env.get("PROCSUP_HOME") ? undefined : defaultHome();
  return [
    "mcp",
    ...(host === undefined ? [] : ["--host", host.machine]),
    ...(home === "" || home === usual ? [] : ["--home", home]),
    ...(toolsets === undefined ? [] : ["--toolsets", toolsets]),
    ...(role === "read" ? ["--read-only"] : []),
    ...(allow === undefined ? [] : ["--allow", allow.join(",")]),
  ];
}

function replaceKeepingMode(path: string, text: string): void {
  const mode = lookAt(path)?.mode;
  replaceFile(path, text);
  if (typeof mode === "number") Deno.chmodSync(path, mode & 0o777);
}
