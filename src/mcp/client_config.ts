/** The configuration files of MCP clients, and the entry of procsup in them. */

import { nearestWord, withNearest } from "../model/nearest_word.ts";
import { ProcsupError, quote } from "../model/errors.ts";
import { isMap } from "../model/merge_patch.ts";
import { shellWord } from "../model/shell_line.ts";
import { memberAt, withMember, withoutMember } from "./json_members.ts";

/** Program and arguments that start `procsup mcp`. */
export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
}

export interface McpClient {
  readonly name: string;
  readonly title: string;
  /** Its configuration file for the user. */
  readonly file: (folders: UserFolders) => string;
  /** The key that contains the servers. */
  readonly key: string;
}

export interface UserFolders {
  readonly home: string;
  /** Claude Code's own folder, if `CLAUDE_CONFIG_DIR` sets it. */
  readonly claude?: string | undefined;
  /** Folder of application settings: `~/.config`, or what the system uses instead. */
  readonly config: string;
}

const OWN = "procsup";

const CLIENTS: readonly McpClient[] = [
  {
    name: "claude",
    title: "Claude Code",
    file: ({ home, claude }) => `${claude || home}/.claude.json`,
    key: "mcpServers",
  },
  {
    name: "cursor",
    title: "Cursor",
    file: ({ home }) => `${home}/.cursor/mcp.json`,
    key: "mcpServers",
  },
  {
    name: "vscode",
    title: "Visual Studio Code",
    file: ({ config }) => `${config}/Code/User/mcp.json`,
    key: "servers",
  },
];

/** Finds a client by name. Throws `bad_request`. */
export function mcpClient(name: string): McpClient {
  const found = CLIENTS.find((client) => client.name === name);
  if (found !== undefined) return found;
  const names = CLIENTS.map((client) => client.name);
  const message = withNearest(`Unknown MCP client "${name}"`, nearestWord(name, names));
  throw new ProcsupError("bad_request", message, {
    hint: `Expected one of ${names.join(", ")}`,
  });
}

/** A configuration file with only our entry. */
export function ownEntry({ key }: McpClient, command: ServerCommand): Record<string, unknown> {
  return { [key]: { [OWN]: { type: "stdio", ...command } } };
}

/**
 * Adds our entry to a client's file and keeps everything else, even what the user added to the entry.
 * Undefined if nothing changes; `before` is the command that it replaces. Throws `wrong_state` if
 * the file cannot be edited, or if the entry is a server at a URL.
 */
export function mergedFile(
  { name, title, key }: McpClient,
  command: ServerCommand,
  existing: string | undefined,
): { readonly text: string; readonly before?: string } | undefined {
  const [mark, text] = split(existing);
  const entry = memberAt(text, [key, OWN]);
  const kept: Record<string, unknown> = isMap(entry) ? entry : {};
  if (kept.url !== undefined) {
    throw new ProcsupError("wrong_state", `${title} has a server "${OWN}" at ${quote(kept.url)}`, {
      hint: {
        text: "To replace it, remove it first",
        command: { verb: "mcp uninstall", target: name },
      },
    });
  }
  const wanted = { ...kept, type: "stdio", ...command };
  if (JSON.stringify(entry) === JSON.stringify(wanted)) return undefined;
  const before = wordsOf(kept);
  return {
    text: mark + withMember(text, [key, OWN], wanted),
    ...before !== wordsOf({ ...command }) && before !== "" && { before },
  };
}

function wordsOf({ command, args }: Readonly<Record<string, unknown>>): string {
  return [command ?? [], args ?? []].flat().map((word) => shellWord(String(word))).join(" ");
}

/** A client's file without our entry; undefined if it has none. Throws like `mergedFile()`. */
export function clearedFile({ key }: McpClient, existing: string | undefined): string | undefined {
  const [mark, text] = split(existing);
  if (memberAt(text, [key, OWN]) === undefined) return undefined;
  return mark + withoutMember(text, [key, OWN]);
}

/** Separates a byte order mark from the text. An empty file becomes an empty object. */
function split(file = ""): [string, string] {
  const text = file.replace(/^\ufeff/, "");
  return [file.slice(0, file.length - text.length), text.trim() === "" ? "{}\n" : text];
}
