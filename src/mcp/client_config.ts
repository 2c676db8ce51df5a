/** The configuration files of MCP clients, and our entry in them. */

import { didYouMean } from "../model/did_you_mean.ts";
import { ProcsupError } from "../model/errors.ts";
import { memberAt, withMember, withoutMember } from "./json_members.ts";

/** Program and arguments that start `procsup mcp`. */
export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
}

/** A client that `procsup mcp install` knows. */
export interface McpClient {
  readonly name: string;
  readonly title: string;
  /** Its user-wide file. */
  readonly file: (folders: UserFolders) => string;
  /** The key that holds the servers. */
  readonly key: string;
}

/** Where a user's files are. */
export interface UserFolders {
  readonly home: string;
  /** The directory of Claude Code's own files, if `CLAUDE_CONFIG_DIR` sets it. */
  readonly claude?: string | undefined;
  /** Where applications keep their settings: `~/.config`, or what the system has instead. */
  readonly config: string;
}

/** The name of our entry. */
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

/** A client by its name. Throws `bad_request`. */
export function mcpClient(name: string): McpClient {
  const found = CLIENTS.find((client) => client.name === name);
  if (found !== undefined) return found;
  const names = CLIENTS.map((client) => client.name);
  const near = didYouMean(name, names);
  throw new ProcsupError(
    "bad_request",
    `Unknown MCP client "${name}"` + (near === undefined ? "" : `: did you mean "${near}"?`),
    { hint: `Known are: ${names.join(", ")}` },
  );
}

/** What our entry looks like in a client's file, alone. */
export function ownEntry({ key }: McpClient, command: ServerCommand): Record<string, unknown> {
  return { [key]: { [OWN]: { type: "stdio", ...command } } };
}

/**
 * A client's file with our entry in it, all else as it was, and what a person added to the entry;
 * undefined when nothing is to be changed. Throws `wrong_state` for a file that cannot be merged with.
 */
export function mergedFile(
  { key }: McpClient,
  command: ServerCommand,
  existing: string | undefined,
): string | undefined {
  const [mark, text] = split(existing);
  const before = memberAt(text, [key, OWN]);
  const kept = typeof before === "object" && before !== null ? before : {};
  const entry = { ...kept, type: "stdio", ...command };
  if (JSON.stringify(before) === JSON.stringify(entry)) return undefined;
  return mark + withMember(text, [key, OWN], entry);
}

/** A client's file without our entry; undefined if it has none. Throws as `mergedFile()` does. */
export function clearedFile({ key }: McpClient, existing: string | undefined): string | undefined {
  const [mark, text] = split(existing);
  if (memberAt(text, [key, OWN]) === undefined) return undefined;
  return mark + withoutMember(text, [key, OWN]);
}

/** The mark that some editors put before all else, and the text; that of an empty object for none. */
function split(file = ""): [string, string] {
  const text = file.replace(/^\ufeff/, "");
  return [file.slice(0, file.length - text.length), text.trim() === "" ? "{}\n" : text];
}
