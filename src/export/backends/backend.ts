/** What `--on` can do with an engine. A backend drives the engine's own client. */

import { ProcsupError } from "../../model/errors.ts";
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
  /** The engine's reason, or nothing. */
  readonly reason: string;
}

/** How an app is after a rollout. */
export interface Rollout {
  readonly app: string;
  readonly ok: boolean;
  /** What the engine says. */
  readonly text: string;
}

/** Why an app is as it is. */
export interface Explanation {
  readonly copies: readonly Copy[];
  /** What happened to the app and its earlier copies, newest first. */
  readonly history: readonly string[];
}

/** How logs are shown. */
export interface LogFlags {
  readonly follow: boolean;
  readonly lines: number;
}

/** Prints how far a rollout is. */
export type OnProgress = (text: string) => void;

/** Which apps of an engine are meant. */
export interface Place {
  readonly stack: string;
  /** What the engine's client calls a cluster; the one that it has in use unless given. */
  readonly context?: string;
  /** Namespace of Kubernetes. */
  readonly namespace?: string;
}

/** An engine, for the stack of one file. */
export interface Backend {
  /** Name of the stack. */
  readonly stack: string;
  /** Applies an export, removes what is no longer in it, and waits until it is ready or has failed. */
  up(exported: Exported): Promise<Rollout[]>;
  list(): Promise<Copy[]>;
  /** Prints the logs of apps, of all without names; the client's exit code. */
  logs(apps: readonly string[], flags: LogFlags): Promise<number>;
  why(app: string): Promise<Explanation>;
  scale(app: string, copies: (now: number) => number): Promise<Rollout[]>;
  /** Replaces the copies of an app one after the other. */
  roll(app: string): Promise<Rollout[]>;
  down(): Promise<string[]>;
}

/** The error for an app that a stack does not have. */
export function unknownApp(stack: string, app: string, apps: readonly string[]): ProcsupError {
  return new ProcsupError("process_not_found", `The stack "${stack}" has no app "${app}"`, {
    hint: apps.length === 0 ? "Nothing of it runs" : `It has ${apps.join(", ")}`,
  });
}
