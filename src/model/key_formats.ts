/** Text formats that a pattern alone cannot check. */

import { conditionProblem } from "./alert_rules.ts";
import { messageOf } from "./errors.ts";
import { pathTest } from "./glob.ts";
import type { Format } from "./key_table.ts";
import { isAddressRange, parseListen } from "./listen_address.ts";
import { nameProblem } from "./name.ts";
import { signalProblem, signalText } from "./signal.ts";
import { userProblem } from "./user_id.ts";

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
  user: { problem: userProblem, pattern: "^(?![+-])[^\\s:]+$" },
  http_url: {
    problem: (text) => httpProblem(text, 'use type "tcp" or "command"'),
    pattern: "^https?://",
  },
  webhook_url: {
    problem: (text) => {
      const problem = httpProblem(text, "use another port");
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
  address_range: {
    problem: (text) =>
      isAddressRange(text) ? undefined : 'expected an address such as "127.0.0.1" or "10.0.0.0/8"',
    pattern: "^[0-9a-fA-F:.]+(/[0-9]{1,3})?$",
  },
  failure_action: actionRule("restart", "none"),
  watch_action: actionRule("restart", "reload", "command"),
  alert: { problem: (text) => conditionProblem(text, "process") },
  host_alert: { problem: (text) => conditionProblem(text, "host") },
};

/** One of these words, or a signal to send. */
function actionRule(...words: readonly string[]): FormatRule {
  return {
    problem: (text) => {
      const signal = signalText(text);
      if (signal !== undefined) return signalProblem(signal);
      if (words.includes(text)) return undefined;
      const quoted = words.map((word) => `"${word}"`).join(", ");
      return `expected ${quoted} or "signal:" and a signal`;
    },
    pattern: `^(${words.join("|")}|signal:.+)$`,
  };
}

const PORT = "expected a port from 1 to 65535";

/** Ports to which `fetch()` sends nothing: https://fetch.spec.whatwg.org/#port-blocking. */
const BLOCKED_PORTS = new Set(
  ("1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 " +
    "115 117 119 123 135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 " +
    "554 556 563 587 601 636 989 990 993 995 1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 " +
    "6566 6665 6666 6667 6668 6669 6679 6697 10080").split(" "),
);

function httpProblem(text: string, instead: string): string | undefined {
  const { protocol, port = "" } = URL.parse(text) ?? {};
  if (!/^https?:$/.test(protocol ?? "")) return "expected an http:// or https:// URL";
  if (BLOCKED_PORTS.has(port)) {
    return `the runtime sends no HTTP requests to port ${port}: ${instead}`;
  }
  return port === "0" ? PORT : undefined;
}

function failureOf(read: () => unknown): string | undefined {
  try {
    return void read();
  } catch (error) {
    return messageOf(error);
  }
}
