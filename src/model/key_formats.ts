/** Texts of configurations that a pattern cannot check alone. */

import { messageOf } from "./errors.ts";
import { pathTest } from "./glob.ts";
import type { Format } from "./key_table.ts";
import { parseListen } from "./listen_address.ts";
import { nameProblem } from "./name.ts";
import { parseSignal } from "./signal.ts";

interface FormatRule {
  /** What is wrong with a text; undefined: nothing. */
  readonly problem: (text: string) => string | undefined;
  /** The same as far as a regular expression tells it, for editors. */
  readonly pattern?: string;
}

/** The rules by format. */
export const FORMATS: Readonly<Record<Format, FormatRule>> = {
  name: {
    problem: nameProblem,
    pattern: "^(?!(?:[Aa][Ll][Ll]|[0-9]+)$)[A-Za-z0-9][A-Za-z0-9._-]{0,127}$",
  },
  regex: { problem: (text) => failureOf(() => new RegExp(text)) },
  glob: { problem: (text) => failureOf(() => pathTest(text)) },
  http_url: {
    problem: (text) => isHttp(text) ? undefined : "expected an http:// or https:// URL",
    pattern: "^https?://",
  },
  webhook_url: {
    problem: (text) => {
      if (!isHttp(text)) return "expected an http:// or https:// URL";
      const { username, password } = new URL(text);
      return username + password === ""
        ? undefined
        : 'a user and a password are not sent, sign with "secret" instead';
    },
    pattern: "^https?://",
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

function isHttp(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

function failureOf(read: () => unknown): string | undefined {
  try {
    return void read();
  } catch (error) {
    return messageOf(error);
  }
}
