/** The messages that clients send over the WebSocket: rows as those of the verbs. */

import { ProcsupError, quote } from "../model/errors.ts";
import { nearestWord, withNearest } from "../model/nearest_word.ts";
import * as z from "zod/mini";
import { logQuery, logQueryFrom, terminalQuery } from "./logs/rows.ts";
import { PROCESS_VERBS } from "./processes/rows.ts";
import { readPayload } from "./read_input.ts";
import { about, target } from "./shapes.ts";
import type { Verb } from "./verb.ts";

/** What a client can subscribe to. With `processes` it gets no `process_list`. */
export const TOPICS = ["events", "logs", "processes", "system_metrics"] as const;

const topics = z.array(z.enum(TOPICS));

const id = about(
  z.int().check(z.minimum(0)),
  "chosen by the client: all messages about this log carry it",
);

/** What each message is for, the lowest role that may send it, and its fields besides `type`. */
const FEED_MESSAGES = {
  ping: { help: "Ask for a pong", role: "read", input: z.strictObject({}) },
  subscribe: {
    help: "Get events, metrics of the host, or new lines of a target",
    role: "read",
    input: z.strictObject({
      topics,
      target: z._default(target, "all"),
      ...z.pick(logQuery, { lines: true, grep: true, level: true }).shape,
      stderr: z.optional(z.boolean("expected true or false")),
    }),
  },
  unsubscribe: { help: "End subscriptions", role: "read", input: z.strictObject({ topics }) },
  open_log: {
    help: "Read or follow logs, up to 16 at once, terminals included",
    role: "read",
    input: z.extend(logQueryFrom, { id }),
  },
  close_log: {
    help: "Stop following logs, or leave a terminal",
    role: "read",
    input: z.strictObject({ id }),
  },
  attach: {
    help:
      "Get the output of an app's terminal; over REST, `send` types into it, and `attach` sets " +
      "its size",
    role: PROCESS_VERBS.attach.role,
    input: z.extend(terminalQuery, { id }),
  },
  shown: {
    help: "Confirm messages of a terminal: it pauses while 256 KiB of them are not confirmed",
    role: "read",
    input: z.strictObject({ id, chars: about(z.int().check(z.minimum(0)), "their length") }),
  },
} satisfies Readonly<Record<string, Pick<Verb, "help" | "role" | "input">>>;

type Messages = typeof FEED_MESSAGES;

/** A message of a client, checked. */
export type FeedMessage = {
  [T in keyof Messages]: { readonly type: T; readonly fields: z.output<Messages[T]["input"]> };
}[keyof Messages];

/** Reads a message of a client, after `allow` has checked the role. Throws `bad_request`. */
export function readFeedMessage(
  message: unknown,
  allow: (role: Verb["role"]) => void,
): FeedMessage {
  const { type, ...fields } = Object(message) as Record<string, unknown>;
  if (typeof type !== "string" || !Object.hasOwn(FEED_MESSAGES, type)) {
    const known = Object.keys(FEED_MESSAGES);
    const what = withNearest(`Unknown message ${quote(type)}`, nearestWord(String(type), known));
    throw new ProcsupError("bad_request", what, { hint: `Known: ${known.join(", ")}` });
  }
  const { role, input } = FEED_MESSAGES[type as keyof Messages];
  allow(role);
  return { type, fields: readPayload(input as z.ZodMiniType, fields) } as FeedMessage;
}
