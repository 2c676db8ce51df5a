/** The verbs of the live view, one row each, and how they are carried out. */

import { messageOf } from "../../model/errors.ts";
import type { DaemonClient } from "../../protocol/daemon_client.ts";
import type { ProcessResult } from "../../protocol/wire.ts";
import { counted } from "../human.ts";

/** What became of each process. */
interface Answer {
  readonly results?: readonly Pick<ProcessResult, "name" | "ok" | "error">[];
}

interface VerbRow {
  /** The notice while it is in progress, and afterwards. */
  readonly notice: readonly [now: string, done: string];
  readonly call: (client: DaemonClient, target: string[], word: string) => Promise<Answer>;
  /** Asks for a confirmation also for a single app. */
  readonly asks?: boolean;
  /** Starts what is stopped. */
  readonly starts?: boolean;
  /** Acts on all instances of an app. */
  readonly onBase?: boolean;
  /** Takes an argument before the target; this is the message if it is missing. */
  readonly missingWord?: string;
}

const ROWS = {
  start: {
    notice: ["starting", "started"],
    call: (client, target) => client.call("start", { target, wait: true }),
  },
  stop: {
    notice: ["stopping", "stopped"],
    call: (client, target) => client.call("stop", { target }),
    asks: true,
  },
  restart: {
    notice: ["restarting", "restarted"],
    call: (client, target) => client.call("restart", { target, wait: true }),
    starts: true,
  },
  reload: {
    notice: ["reloading", "reloaded"],
    call: (client, target) => client.call("reload", { target, wait: true }),
    starts: true,
  },
  delete: {
    notice: ["deleting", "deleted"],
    call: (client, target) => client.call("delete", { target }),
    asks: true,
  },
  flush: {
    notice: ["emptying the logs of", "has empty logs"],
    call: (client, target) => client.call("flush", { target }),
    asks: true,
  },
  signal: {
    notice: ["signalling", "signalled"],
    call: (client, target, signal) => client.call("signal", { target, signal }),
    missingWord: "signal NAME [target]: which one?",
  },
  scale: {
    notice: ["scaling", "scaled"],
    call: (client, targets, instances) =>
      oneByOne(targets, (target) => client.call("scale", { target, instances })),
    onBase: true,
    missingWord: "scale N [target]: how many?",
  },
  roll: {
    notice: ["rolling", "rolled"],
    call: (client, targets) =>
      oneByOne(targets, (target) => client.call("rolling_reload", { target })),
    onBase: true,
  },
} satisfies Readonly<Record<string, VerbRow>>;

/** A verb available by key or in the palette. */
export type Verb = keyof typeof ROWS;

export const VERBS: Readonly<Record<Verb, VerbRow>> = ROWS;

/** A verb and its targets. */
export interface VerbCall {
  readonly verb: Verb;
  readonly targets: readonly string[];
  /** Signal name or number of instances. */
  readonly word?: string;
}

/** For verbs that take one app: an app that cannot be asked keeps no other from its turn. */
async function oneByOne(
  targets: readonly string[],
  call: (target: string) => Promise<Answer>,
): Promise<Answer> {
  const answers: Answer[] = [];
  for (const name of targets) {
    answers.push(
      await call(name).catch((error) => ({
        results: [{ name, ok: false, error: messageOf(error) }],
      })),
    );
  }
  return { results: answers.flatMap(({ results = [] }) => results) };
}

/** Notice while a verb is in progress. */
export function underWay({ verb, targets }: VerbCall): string {
  return `${VERBS[verb].notice[0]} ${namesOf(targets)} …`;
}

/** Performs the verb on its targets, as one request, and returns a notice. Never throws. */
export async function perform(
  client: DaemonClient,
  asked: VerbCall,
): Promise<{ readonly text: string; readonly bad: boolean }> {
  const { verb, word = "", targets } = asked;
  const failures = await failuresOf(
    () => VERBS[verb].call(client, [...targets], word),
    namesOf(targets),
  );
  const done = VERBS[verb].notice[1];
  if (failures.length === 0) return { text: `✔ ${namesOf(targets)} ${done}`, bad: false };
  const more = failures.length === 1 ? "" : ` (and ${failures.length - 1} more)`;
  return { text: `✘ ${verb} ${failures[0]}${more}`, bad: true };
}

async function failuresOf(
  call: () => Promise<Answer>,
  whom: string,
): Promise<string[]> {
  try {
    const { results = [] } = await call();
    return results.filter(({ ok }) => !ok).map(({ name, error }) =>
      `${name}: ${error ?? "failed"}`
    );
  } catch (error) {
    return [`${whom}: ${messageOf(error)}`];
  }
}

function namesOf(targets: readonly string[]): string {
  return targets.length === 1 ? targets[0]! : counted(targets.length, "app");
}
