/** The commands of `--on`. A backend runs the engine's own client. */

import type { PrintLine } from "../client.ts";
import { hasCode, messageOf, ProcsupError } from "../../model/errors.ts";
import { sleep } from "../../platform/clock.ts";
import type { Exported } from "../export_stack.ts";

/** One copy of an app on an engine. */
export interface Copy {
  readonly name: string;
  readonly app: string;
  /** The engine's word. */
  readonly state: string;
  readonly ready: boolean;
  readonly node: string;
  readonly image: string;
  /** The engine's reason; may be empty. */
  readonly reason: string;
}

/** The result of a rollout for one app. */
export interface Rollout {
  readonly app: string;
  readonly ok: boolean;
  /** The engine's message. */
  readonly text: string;
}

/** Progress of a rollout; `ok` is undefined while it is running. */
export interface Progress extends Pick<Copy, "app" | "state">, Partial<Pick<Copy, "reason">> {
  readonly ok: boolean | undefined;
}

/** Explains the state of an app. */
export interface Explanation {
  readonly copies: readonly Copy[];
  /** What happened to the app and its earlier copies, newest first. */
  readonly history: readonly string[];
}

export interface LogFlags {
  readonly follow: boolean;
  readonly lines: number;
  readonly print: PrintLine;
}

/** The apps of an engine, and how it is asked about them. */
export interface Place {
  readonly stack: string;
  /** The cluster's name in the engine's client; by default, the one in use there. */
  readonly context?: string;
  readonly namespace?: string;
  /** Ends the engine's client. */
  readonly signal?: AbortSignal;
  /** Called with each change of a rollout. */
  readonly onProgress?: (text: string) => void;
}

export const POLL_MS = 1000;

/** A rollout that makes no progress for this long has failed. */
const PATIENCE_MS = 10 * 60_000;

/** Time limit for an engine that does not answer during a rollout. */
const OUTAGE_MS = 60_000;

/** An engine, for the stack of one file. */
export abstract class Backend {
  protected readonly place: Place;
  protected readonly stack: string;

  constructor(place: Place) {
    this.place = place;
    this.stack = place.stack;
  }

  /** Applies an export, removes what is no longer in it, and waits for success or failure. */
  abstract up(exported: Exported): Promise<Rollout[]>;
  /** The copies of every app; an app that has none is one row. */
  abstract list(): Promise<Copy[]>;
  /** Prints the logs of the named apps, or of all; returns the client's exit code. */
  abstract logs(apps: readonly string[], flags: LogFlags): Promise<number>;
  abstract why(app: string): Promise<Explanation>;
  abstract scale(app: string, copies: (now: number) => number): Promise<Rollout[]>;
  /** Replaces the copies of an app one by one. */
  abstract reload(app: string): Promise<Rollout[]>;
  /** Removes the stack; returns the names of its apps. */
  abstract down(): Promise<string[]>;

  /** The error for an app that the stack does not have. */
  unknownApp(app: string, apps: readonly string[]): ProcsupError {
    return new ProcsupError("process_not_found", `The stack "${this.stack}" has no app "${app}"`, {
      hint: apps.length === 0 ? "It has no apps there" : `It has ${[...new Set(apps)].join(", ")}`,
    });
  }

  /** The error for an object of the stack's name that none of its exports made. */
  protected foreign(what: string, hint = "Choose another --stack NAME"): ProcsupError {
    return new ProcsupError("name_taken", `${what} was not made by this stack`, { hint });
  }

  /** The objects of an app. Throws `process_not_found` if there are none. */
  protected ofApp<T>(app: string, all: readonly T[], appOf: (one: T) => string): [T, ...T[]] {
    const [first, ...others] = all.filter((one) => appOf(one) === app);
    if (first === undefined) throw this.unknownApp(app, all.map(appOf));
    return [first, ...others];
  }

  /** Waits until each rollout has succeeded or failed, or none makes progress. */
  protected async settled(look: () => Promise<readonly Progress[]>): Promise<Rollout[]> {
    const last = new Map<string, string>();
    let since = performance.now();
    for (;;) {
      const all = (await this.patiently(look)).map(({ app, ok, state, reason }) => (
        { app, ok, text: reason ? `${state}: ${reason}` : state }
      ));
      for (const { app, text } of all) {
        if (last.get(app) === text) continue;
        last.set(app, text);
        since = performance.now();
        this.place.onProgress?.(`${app}  ${text}`);
      }
      const isLate = performance.now() - since > PATIENCE_MS;
      if (isLate || all.every(({ ok }) => ok !== undefined)) {
        return all.map(({ ok, ...rest }) => ({ ...rest, ok: ok === true }));
      }
      await sleep(POLL_MS);
    }
  }

  /** Asks again while the engine does not answer: its server may restart. Prints the error once. */
  protected async patiently<T>(look: () => Promise<T>): Promise<T> {
    const since = performance.now();
    for (let isNoted = false;; isNoted = true) {
      try {
        return await look();
      } catch (error) {
        if (!hasCode(error, "start_failed") || performance.now() - since > OUTAGE_MS) throw error;
        if (!isNoted) this.place.onProgress?.(messageOf(error));
        await sleep(POLL_MS);
      }
    }
  }
}

/** The name of an engine's object without the name of its stack, which precedes it. */
export function shortName(stack: string, name: string): string {
  return name.slice(stack.length + 1);
}

/** The row of an app that has no copies: it was scaled to 0, or does not start by itself. */
export function withoutCopies(app: string, image = "-"): Copy {
  return { name: app, app, state: "no copies", ready: false, node: "-", image, reason: "" };
}

/** How often a copy was restarted; empty if never. */
export function restartsText(count: number): string {
  if (count === 0) return "";
  return count === 1 ? "1 restart" : `${count} restarts`;
}
