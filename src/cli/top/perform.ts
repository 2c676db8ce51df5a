/** Carries out what was asked for, and says how it went. */

import { messageOf } from "../../model/errors.ts";
import type { BulkResult } from "../../protocol/actions.ts";
import type { DaemonClient } from "../../protocol/daemon_client.ts";
import { counted } from "../human.ts";
import type { ActionCall, Verb } from "./messages.ts";

/** Calls under way at once. */
const AT_ONCE = 8;

type Call = (client: DaemonClient, target: string, word: string) => Promise<Partial<BulkResult>>;

const CALLS: Readonly<Record<Verb, Call>> = {
  start: (client, target) => client.call("start", { target, wait: true }),
  stop: (client, target) => client.call("stop", { target }),
  restart: (client, target) => client.call("restart", { target, wait: true }),
  reload: (client, target) => client.call("reload", { target, wait: true }),
  delete: (client, target) => client.call("delete", { target }),
  flush: (client, target) => client.call("flush", { target }),
  signal: (client, target, signal) => client.call("signal", { target, signal }),
  scale: (client, target, instances) => client.call("scale", { target, instances }),
  roll: (client, target) => client.call("rolling_reload", { target }),
};

const DOING: Readonly<Record<Verb, readonly [now: string, done: string]>> = {
  start: ["starting", "started"],
  stop: ["stopping", "stopped"],
  restart: ["restarting", "restarted"],
  reload: ["reloading", "reloaded"],
  delete: ["deleting", "deleted"],
  flush: ["emptying the logs of", "has empty logs"],
  signal: ["signalling", "signalled"],
  scale: ["scaling", "scaled"],
  roll: ["rolling", "rolled"],
};

/** What is said until it is done. */
export function underWay({ verb, targets }: ActionCall): string {
  return `${DOING[verb][0]} ${whom(targets)} …`;
}

/** Does it, for every target, and returns what to say about it. Never throws. */
export async function perform(
  client: DaemonClient,
  action: ActionCall,
): Promise<{ readonly text: string; readonly bad: boolean }> {
  const { verb, word = "", targets } = action;
  const failures: string[] = [];
  const waiting = [...targets];
  const worker = async () => {
    for (let target = waiting.shift(); target !== undefined; target = waiting.shift()) {
      try {
        const { results = [] } = await CALLS[verb](client, target, word);
        for (const { ok, name, error } of results) if (!ok) failures.push(`${name}: ${error}`);
      } catch (error) {
        failures.push(`${target}: ${messageOf(error)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, targets.length) }, worker));
  if (failures.length === 0) return { text: `✔ ${whom(targets)} ${DOING[verb][1]}`, bad: false };
  const more = failures.length === 1 ? "" : ` (and ${failures.length - 1} more)`;
  return { text: `✘ ${verb} ${failures[0]}${more}`, bad: true };
}

function whom(targets: readonly string[]): string {
  return targets.length === 1 ? targets[0]! : counted(targets.length, "app");
}
