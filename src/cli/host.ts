/** Where a command goes: `--on`, `--host`, `PROCSUP_HOST`, or the context in use. */

import { ProcsupError } from "../model/errors.ts";
import { configFolder } from "../platform/os.ts";
import { checkWay } from "../platform/paths.ts";
import { lstatIfAny } from "../platform/stat.ts";
import type { DaemonRequest, Way } from "../protocol/daemon_client.ts";
import type { Hello, Machine, SshWay } from "./ssh.ts";
import type { UnixResponse } from "../protocol/unix_http.ts";
import type { Flags } from "./flags.ts";

/** The name of this machine among the contexts. */
export const THIS_MACHINE = "local";

/** What of an engine is meant. */
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

/** Where a command goes; this machine without either. */
export interface Target {
  readonly host?: Host;
  readonly engine?: Engine;
}

/** Another machine, by ssh. */
export class Host implements Way {
  readonly machine: string;
  readonly home: string;
  readonly #load: () => Promise<SshWay>;
  #ssh: Promise<SshWay> | undefined;

  constructor(machine: Machine, isBatch = false) {
    this.machine = machine.name;
    this.home = machine.home ?? "";
    this.#load = async () => new (await import("./ssh.ts")).SshWay(machine, isBatch);
  }

  async send(request: DaemonRequest): Promise<UnixResponse> {
    return await (await this.#way()).send(request);
  }

  /** What the other end says about itself. */
  async hello(): Promise<Hello> {
    return await (await this.#way()).hello();
  }

  /** A request that needs no daemon there. */
  async ask<T>(path: string, body?: unknown): Promise<T> {
    return await (await this.#way()).ask(path, body ?? null);
  }

  #way(): Promise<SshWay> {
    return this.#ssh ??= this.#load();
  }
}

/** The machine or engine that flags, environment and contexts name. */
export function targetIn(flags: Flags): Target {
  const on = flags.text("on");
  if (on !== undefined) return on === THIS_MACHINE ? {} : { engine: engineIn(flags, { on }) };
  const given = flags.text("host") ?? (Deno.env.get("PROCSUP_HOST") || undefined);
  if (given === THIS_MACHINE) return {};
  if (given === undefined && isHomeNamed(flags)) return {};
  const { use, contexts } = readContexts();
  const name = given ?? use;
  if (name === undefined) return {};
  const known = Object.hasOwn(contexts, name) ? contexts[name]! : { destination: name };
  if ("on" in known) return { engine: engineIn(flags, known) };
  const [home, program] = [flags.text("home"), flags.text("remote-procsup")];
  return { host: new Host({ name, ...known, ...(home && { home }), ...(program && { program }) }) };
}

/** An engine, changed by flags. */
export function engineIn(flags: Flags, engine: Engine): Engine {
  const [context, namespace, stack] = ["context", "namespace", "stack"].map((name) =>
    flags.text(name)
  );
  return {
    ...engine,
    ...(context && { context }),
    ...(namespace && { namespace }),
    ...(stack && { stack }),
  };
}

/** A named home is on this machine. So is the daemon of an app or a hook. */
function isHomeNamed(flags: Flags): boolean {
  return flags.text("home") !== undefined ||
    ["PROCSUP_HOME", "PROCSUP_ID"].some((name) => Deno.env.get(name));
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
  try {
    const { use, contexts } = JSON.parse(Deno.readTextFileSync(path));
    return { ...(typeof use === "string" ? { use } : {}), contexts: { ...contexts } };
  } catch (cause) {
    throw new ProcsupError("invalid_config", `The contexts file "${path}" is not valid JSON`, {
      hint: "Mend it, or remove it",
      cause,
    });
  }
}
