/** Notifies clients of changes, at a limited rate. */

import { following } from "../protocol/streams.ts";
import { APP_SCHEMES, LIST_URI } from "./resources.ts";

/** The part of an event that the MCP server needs. */
export interface Change {
  readonly type: string;
  readonly name: string;
}

/**
 * Events from now on, until the signal aborts. Resolves once it listens. Throws, at once or later,
 * if the source is unavailable.
 */
export type Changes = (
  signal: AbortSignal,
) => AsyncIterable<Change> | Promise<AsyncIterable<Change>>;

/** Sends notifications to clients. */
export interface Notifier {
  /** The list of resources changed. */
  resourcesChanged(): void;
  /** The content of a resource changed. */
  resourceUpdated(uri: string): void;
}

/** Where changes come from. */
export interface NewsSource {
  readonly changes: Changes;
  /** The names of all apps. May throw. */
  readonly names: () => Promise<readonly string[]>;
}

export interface Watch {
  /** Resolves once no change can be missed, or when the first attempt to listen fails. */
  readonly listening: Promise<void>;
  /** Resolves after the signal aborts. */
  readonly ended: Promise<void>;
}

/** Changes within this time are sent together. */
const COALESCE_MS = 100;

/**
 * Reads changes and passes them on until the signal aborts. If the source ends, for example because
 * the daemon is upgraded, it is opened again and everything counts as changed.
 */
export function watchChanges(
  { changes, names }: NewsSource,
  notifier: Notifier,
  signal: AbortSignal,
): Watch {
  const batch = new Batch(notifier);
  const { promise: listening, resolve: asked } = Promise.withResolvers<void>();
  const opened = async (again: boolean) => {
    asked();
    if (again) { for (const name of [undefined, ...await names()]) batch.add(true, name); }
  };
  const open = () => changes(signal);
  const watch = async () => {
    const all = following({ open, opened, lost: asked, signal, forEver: true });
    for await (const { type, name } of all) {
      batch.add(type === "added" || type === "deleted", name);
    }
    batch.drop();
  };
  return { listening, ended: watch() };
}

/** Changes to send. */
class Batch {
  readonly #notifier: Notifier;
  readonly #uris = new Set<string>();
  #list = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(notifier: Notifier) {
    this.#notifier = notifier;
  }

  add(list: boolean, name?: string): void {
    this.#list ||= list;
    this.#uris.add(LIST_URI);
    if (name !== undefined) {
      // Clients may use either spelling of `api:0`: that of the list or that of the template.
      for (const spelt of [name, encodeURIComponent(name)]) {
        for (const scheme of APP_SCHEMES) this.#uris.add(`${scheme}://${spelt}`);
      }
    }
    this.#timer ??= setTimeout(() => this.#notify(), COALESCE_MS);
  }

  drop(): void {
    clearTimeout(this.#timer);
  }

  #notify(): void {
    const uris = [...this.#uris];
    const list = this.#list;
    this.#uris.clear();
    this.#list = false;
    this.#timer = undefined;
    if (list) this.#notifier.resourcesChanged();
    for (const uri of uris) this.#notifier.resourceUpdated(uri);
  }
}
