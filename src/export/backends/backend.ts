/** The commands of `--on`. A backend runs the engine's own client. */

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

/** Explains the state of an app. */
export interface Explanation {
  readonly copies: readonly Copy[];
  /** What happened to the app and its earlier copies, newest first. */
  readonly history: readonly string[];
}

/** Options of `logs`. */
export interface LogFlags {
  readonly follow: boolean;
  readonly lines: number;
}

/** Prints the progress of a rollout. */
export type OnProgress = (text: string) => void;

/** Selects the apps of an engine. */
export interface Place {
  readonly stack: string;
  /** The cluster's name in the engine's client; by default, the one in use there. */
  readonly context?: string;
  /** Namespace of Kubernetes. */
  readonly namespace?: string;
}

/** An engine, for the stack of one file. */
export interface Backend {
  /** Name of the stack. */
  readonly stack: string;
  /** Applies an export, removes what is no longer in it, and waits for success or failure. */
  up(exported: Exported): Promise<Rollout[]>;
  list(): Promise<Copy[]>;
  /** Prints the logs of the named apps, or of all; returns the client's exit code. */
  logs(apps: readonly string[], flags: LogFlags): Promise<number>;
  why(app: string): Promise<Explanation>;
  scale(app: string, copies: (now: number) => number): Promise<Rollout[]>;
  /** Replaces the copies of an app one by one. */
  roll(app: string): Promise<Rollout[]>;
  down(): Promise<string[]>;
}

/** The error for an app that a stack does not have. */
export function unknownApp(stack: string, app: string, apps: readonly string[]): ProcsupError {
  return new ProcsupError("process_not_found", `The stack "${stack}" has no app "${app}"`, {
    hint: apps.length === 0 ? "Nothing of it runs" : `It has ${[...new Set(apps)].join(", ")}`,
  });
}
