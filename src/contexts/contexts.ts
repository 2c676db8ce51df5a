/** The contexts of a user: names for other machines and engines, stored in a file. */

import { ProcsupError } from "../model/errors.ts";
import { configFolder } from "../platform/os.ts";
import { lstatIfAny } from "../platform/files/stat.ts";
import { wayProblem } from "../platform/files/way.ts";
import type { MachineAddress } from "./ssh.ts";

/** The name of this machine among the contexts. */
export const THIS_MACHINE = "local";

/** Which apps of an engine commands act on. */
export interface Engine {
  readonly on: string;
  /** The cluster's name in the engine's client. */
  readonly context?: string;
  readonly namespace?: string;
  readonly stack?: string;
}

export type Destination = MachineAddress | Engine;

export interface Contexts {
  /** Name of the context in use; undefined for this machine. */
  readonly use?: string;
  readonly contexts: Readonly<Record<string, Destination>>;
}

/** Describes the machine or engine of a context. */
export function destinationText(destination: Destination): string {
  if (!("on" in destination)) return destination.destination;
  const { on, context, namespace, stack } = destination;
  return [on, context, namespace, stack].filter(Boolean).join(" ");
}

/** Path of the contexts file; undefined without `HOME`. */
export function contextsFile(): string | undefined {
  const user = Deno.env.get("HOME");
  return user ? `${configFolder(user)}/procsup/contexts.json` : undefined;
}

/** Throws `home_unusable` for root if `HOME` is another user's, as after `sudo`. */
export function refuseForeign(path: string): void {
  const problem = Deno.uid() === 0 ? wayProblem(path) : undefined;
  if (problem === undefined) return;
  throw new ProcsupError("home_unusable", `Refusing the contexts file "${path}": ${problem}`, {
    hint: "Set HOME to that of root (sudo -H), or run it without sudo",
  });
}

/** Reads the contexts. Throws `invalid_config` if the file cannot be read. */
export function readContexts(): Contexts {
  const path = contextsFile();
  if (path === undefined || lstatIfAny(path) === undefined) return { contexts: {} };
  // Otherwise another user could direct root's ssh to a machine of theirs.
  refuseForeign(path);
  const refuse = (why: string, cause?: unknown) =>
    new ProcsupError("invalid_config", `The contexts file "${path}" ${why}`, {
      hint: "Fix it, or remove it",
      cause,
    });
  let file: { readonly use?: unknown; readonly contexts?: Record<string, unknown> } | null;
  try {
    file = JSON.parse(Deno.readTextFileSync(path));
  } catch (cause) {
    throw refuse("is not valid JSON", cause);
  }
  const { use, contexts } = { ...file };
  for (const [name, one] of Object.entries({ ...contexts })) {
    const fields = { ...one as Partial<MachineAddress & Engine> };
    const isText = (value: unknown) => typeof value === "string";
    if (!isText(fields.destination ?? fields.on)) {
      throw refuse(`has no host and no engine for "${name}"`);
    }
    const other = Object.entries(fields).find(([, value]) => !isText(value));
    if (other !== undefined) throw refuse(`has no text as "${other[0]}" of "${name}"`);
  }
  return {
    use: typeof use === "string" ? use : undefined,
    contexts: { ...contexts } as Contexts["contexts"],
  };
}
