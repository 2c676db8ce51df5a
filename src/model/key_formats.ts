/** Text formats that a pattern alone cannot check. */

import { messageOf } from "./errors.ts";
import { pathTest } from "./glob.ts";
import type { Format } from "./key_table.ts";
import { parseListen } from "./listen_address.ts";
import { nameProblem } from "./name.ts";
import { parseSignal } from "./signal.ts";

interface FormatRule {
  /** Why a text is invalid; undefined if it is valid. */
  readonly problem: (text: string) => string | undefined;
  /** A regular expression for editors that comes close to the check. */
  readonly pattern?: string;
}

export const FORMATS: Readonly<Record<Format, FormatRule>> = {
  name: {
    problem: nameProblem,
    pattern: "^(?!(?:[Aa][Ll][Ll]|[0-9]+)$)[A-Za-z0-9][A-Za-z0-9._-]{0,127}$",
  },
  regex: { problem: (text) => failureOf(() => new RegExp(text)) },
  glob: { problem: (text) => failureOf(() => pathTest(text)) },
  http_url: {
    problem: httpProblem,
    pattern: "^https?://",
  },
  webhook_url: {
    problem: (text) => {
      const problem = httpProblem(text);
      if (problem !== undefined) return problem;
      const { username, password } = new URL(text);
      return username + password === ""
        ? undefined
        : 'a user and a password are not sent, sign with "secret" instead';
    },
    pattern: "^https?://",
  },
  endpoint: {
    problem: (text) => {
      const port = /^.+:([0-9]{1,5})$/.exec(text)?.[1];
      if (port === undefined) return 'expected "host:port"';
      return Number(port) >= 1 && Number(port) <= 65_535 ? undefined : PORT;
    },
    pattern: "^.+:[0-9]{1,5}$",
  },
  listen: {
    problem: (text) => failureOf(() => parseListen(text))?.replace(/^Invalid address ".*": /, ""),
    pattern: "(^|:)[0-9]{1,5}$",
  },
  failure_action: {
    problem: (text) => {
      const [, signal] = /^signal:(.+)$/.exec(text) ?? [];
      if (signal !== undefined) return failureOf(() => parseSignal(signal));
      if (text === "restart" || text === "none") return undefined;
      return 'expected "restart", "none" or "signal:" and a signal';
    },
    pattern: "^(restart|none|signal:.+)$",
  },
};

const PORT = "expected a port from 1 to 65535";

function httpProblem(text: string): string | undefined {
  const { protocol, port } = URL.parse(text) ?? {};
  if (!/^https?:$/.test(protocol ?? "")) return "expected an http:// or https:// URL";
  return port === "0" ? PORT : undefined;
}

function failureOf(read: () => unknown): string | undefined {
  try {
    return void read();
  } catch (error) {
    return messageOf(error);
  }
}
