/** Which apps and processes there are, by name, id and target. */

import type { ProcessConfig } from "../model/process_config.ts";
import {
  type Addressable,
  isNameOf,
  isWithin,
  resolveTarget,
  selectorOf,
  withoutGroup,
} from "../model/target.ts";
import type { ManagedProcess } from "../process/managed_process.ts";
import type { Identity } from "../process/process_actor.ts";
import { callListener } from "./event_hub.ts";
import type { ManagedApp } from "./managed_app.ts";

interface EventSubject {
  /** UUID, or its first 8 characters. */
  readonly id: string;
  readonly name: string;
}

/** Called for each new process, and for a renamed one with its earlier name in `before`. */
type Watcher = (process: ManagedProcess, before?: string) => void;

/** What everybody may look up. Only the registry adds and removes. */
export type Directory = Omit<AppDirectory, "put" | "join" | "part" | "announce" | "close">;

export class AppDirectory {
  readonly #apps = new Map<string, ManagedApp>();
  readonly #processes = new Map<string, ManagedProcess>();
  readonly #watchers = new Set<Watcher>();
  readonly #closed = new AbortController();
  readonly #warn: (message: string) => void;

  constructor(warn: (message: string) => void) {
    this.#warn = warn;
  }

  /** Aborted when the supervisor ends. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  /** Every process, by numeric id. */
  list(): ManagedProcess[] {
    // Restored processes come after newer ones in the map.
    return [...this.#processes.values()]
      .sort((one, other) => one.identity.numericId - other.identity.numericId);
  }

  /** All apps, in the order of their registration. */
  apps(): ManagedApp[] {
    return [...this.#apps.values()];
  }

  /** The app of a name, if there is one. */
  app(name: string): ManagedApp | undefined {
    return this.#apps.get(name);
  }

  /** The app of a process. */
  appOf({ identity: { app } }: ManagedProcess): ManagedApp {
    return this.#apps.get(app)!;
  }

  /** The configurations that are wanted. */
  configs(): ProcessConfig[] {
    return this.apps().map(({ wanted }) => wanted);
  }

  /** The instances of the app of that name. */
  instancesOf(name: string): ManagedProcess[] {
    return this.#apps.get(name)?.instances ?? [];
  }

  /**
   * The processes that a target addresses; see `resolveTarget()`. With `only`, no other processes
   * exist: see `isWithin()`.
   */
  resolve(target: string, minPrefix?: number, only?: readonly string[]): ManagedProcess[] {
    const found = resolveTarget(target, this.#within(only), minPrefix);
    return found.map(({ process }) => process);
  }

  #within(only: readonly string[] | undefined): AddressableProcess[] {
    const all = this.list().map(addressable);
    return only === undefined ? all : all.filter((process) => isWithin(only, process));
  }

  /**
   * A test for the events of the processes that a target addresses. A name, tag, namespace or label
   * also matches processes that are added later; an id stays that of one process. Throws like
   * `resolve()`. With `only`, no other processes exist: see `isWithin()`.
   */
  matcher(given: string, only?: readonly string[]): (subject: EventSubject) => boolean {
    if (given === "all" && only === undefined) return () => true;
    const all = this.#within(only);
    const found = resolveTarget(given, all);
    const target = withoutGroup(given, all);
    const isNamed = found.every(({ name }) => isNameOf(target, name));
    const selects = given === "all"
      ? () => true
      : selectorOf(target) ?? (isNamed ? ({ name }) => isNameOf(target, name) : undefined);
    if (isNamed && only === undefined) return ({ name }) => isNameOf(target, name);
    // The event of a deletion comes when the tags of the process are no longer known.
    const ids = new Set(found.map(({ id }) => shortId(id)));
    return ({ id }) => {
      const process = this.#processes.get(id);
      if (selects !== undefined && process !== undefined) {
        const now = addressable(process);
        if (selects(now) && (only === undefined || isWithin(only, now))) ids.add(shortId(id));
        else ids.delete(shortId(id));
      }
      return ids.has(shortId(id));
    };
  }

  /** Notifies a watcher of changes until the returned function is called. */
  watch(watcher: Watcher): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** Whether a process is registered. */
  has({ identity: { id } }: ManagedProcess): boolean {
    return this.#processes.has(id);
  }

  put(app: ManagedApp): void {
    this.#apps.set(app.name, app);
  }

  /** Registers a process of an app that is there. */
  join(process: ManagedProcess): void {
    this.appOf(process).join(process);
    this.#processes.set(process.identity.id, process);
    this.announce(process);
  }

  /** Forgets a process, and its app with the last one. Returns the app. */
  part(process: ManagedProcess): ManagedApp {
    const app = this.appOf(process);
    this.#processes.delete(process.identity.id);
    app.part(process);
    if (app.instances.length === 0) this.#apps.delete(app.name);
    return app;
  }

  /** Notifies the watchers of a new or renamed process. */
  announce(process: ManagedProcess, before?: string): void {
    for (const watcher of [...this.#watchers]) {
      callListener(() => watcher(process, before), this.#warn);
    }
  }

  close(): void {
    this.#closed.abort();
  }
}

/** The id of a process in events on the wire and in the journal. */
function shortId(id: string): string {
  return id.slice(0, 8);
}

interface AddressableProcess extends Addressable {
  readonly process: ManagedProcess;
}

function addressable(process: ManagedProcess): AddressableProcess {
  const { namespace, tags, labels } = process.config;
  const { id, numericId, name } = process.identity satisfies Identity;
  return { id, numericId, name, namespace, tags, labels, process };
}
