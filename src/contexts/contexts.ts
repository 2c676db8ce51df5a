/** The contexts of a user: names of other machines and engines, kept in a file. */

import { ProcsupError } from "../model/errors.ts";
import { configFolder } from "../platform/os.ts";
import { checkWay } from "../platform/paths.ts";
import { lstatIfAny } from "../platform/stat.ts";
import type { Machine } from "./ssh.ts";

/** The name of this machine among the contexts. */
export const THIS_MACHINE = "local";

/** Which apps of an engine commands act on. */
export interface Engine {
  readonly on: string;
  /** What the engine's client calls a cluster. */
  readonly context?: string;
  readonly namespace?: string;
  readonly stack?: string;
}

/** What a context stands for. */
export type Destination = Omit<Machine, "name"> | Engine;

/** The file of the contexts. */
export interface Contexts {
  /** Name of the one in use; this machine without one. */
  readonly use?: string;
  readonly contexts: Readonly<Record<string, Destination>>;
}

/** What a context stands for, in words. */
export function destinationText(destination: Destination): string {
  if (!("on" in destination)) return destination.destination;
  const { on, context, namespace, stack } = destination;
  return [on, context, namespace, stack].filter(Boolean).join(" ");
}

/** Where the contexts are kept; undefined without a `HOME`. */
export function contextsFile(): string | undefined {
  const user = Deno.env.get("HOME");
  return user ? `${configFolder(user)}/procsup/contexts.json` : undefined;
}

/** The contexts on file. Throws `invalid_config` for a file that cannot be read. */
export function readContexts(): Contexts {
  const path = contextsFile();
  if (path === undefined || lstatIfAny(path) === undefined) return { contexts: {} };
  // Another user could have root's ssh go to a machine of theirs.
  if (Deno.uid() === 0) checkWay(path);
  const refuse = (why: string, cause?: unknown) =>
    new ProcsupError("invalid_config", `The contexts file "${path}" ${why}`, {
      hint: "Mend it, or remove it",
      cause,
    });
  let file: { readonly use?: unknown; readonly contexts?: Record<string, unknown> } | null;
  try {
    file = JSON.parse(Deno.readTextFileSync(path));
  } catch (cause) {
    throw refuse("is not valid JSON", cause);
  }
  const { use, contexts } = { ...file };
  const unknown = Object.entries({ ...contexts }).find(([, one]) => !isDestination(one));
  if (unknown !== undefined) throw refuse(`has no host and no engine for "${unknown[0]}"`);
  return {
    ...(typeof use === "string" ? { use } : {}),
    contexts: { ...contexts } as Contexts["contexts"],
  };
}

function isDestination(one: unknown): one is Destination {
  const { destination, on } = { ...one as Partial<Machine & Engine> };
  return typeof (destination ?? on) === "string";
}
