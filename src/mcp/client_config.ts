/** The configuration files of MCP clients, and our entry in them. */

import { didYouMean } from "../model/did_you_mean.ts";
import { messageOf, ProcsupError } from "../model/errors.ts";

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
  /** Where applications keep their settings: `~/.config`, or what the system has instead. */
  readonly config: string;
}

const CLIENTS: readonly McpClient[] = [
  {
    name: "claude",
    title: "Claude Code",
    file: ({ home }) => `${home}/.claude.json`,
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
  return { [key]: { procsup: { type: "stdio", ...command } } };
}

/**
 * A client's file with our entry in it, all else as it was; undefined when nothing is to be changed.
 * Throws `wrong_state` for a file that cannot be merged with.
 */
export function mergedFile(
  client: McpClient,
  command: ServerCommand,
  existing: string | undefined,
): string | undefined {
  const entry = ownEntry(client, command);
  const file = existing === undefined || existing.trim() === "" ? {} : parsed(existing);
  const servers = file[client.key] ?? {};
  if (!isObject(servers)) throw unmergeable(`its "${client.key}" is not an object`);
  const merged = {
    ...file,
    [client.key]: { ...servers, ...entry[client.key] as Record<string, unknown> },
  };
  if (JSON.stringify(merged) === JSON.stringify(file)) return undefined;
  return `${JSON.stringify(merged, null, 2)}\n`;
}

function parsed(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw unmergeable(`it is not plain JSON (${messageOf(error)})`);
  }
  if (!isObject(value)) throw unmergeable("it does not hold an object");
  return value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function unmergeable(why: string): ProcsupError {
  return new ProcsupError("wrong_state", `Cannot merge into the client's file: ${why}`, {
    hint: "Run it again with --print, and put the entry there by hand",
  });
}
