/** Tells clients what has changed, not more often than they can use. */

import { following } from "../protocol/following.ts";
import type { Changes } from "./call.ts";
import { APP_SCHEMES, LIST_URI } from "./resources.ts";

/** Passes the news on. */
export interface Notifier {
  /** There are other resources than before. */
  resourcesChanged(): void;
  /** A resource holds something else than before. */
  resourceUpdated(uri: string): void;
}

/** Where news come from. */
export interface NewsSource {
  readonly changes: Changes;
  /** The names of all apps. May throw. */
  readonly names: () => Promise<readonly string[]>;
}

/** A watch that was begun. */
export interface Watch {
  /** Resolves once it misses nothing, or when the source was not available at the first attempt. */
  readonly listening: Promise<void>;
  /** The signal came. */
  readonly ended: Promise<void>;
}

/** News within this time are sent together. */
const COALESCE_MS = 100;

/**
 * Reads news until the signal and passes them on. A source that ends, such as a daemon that is
 * upgraded, is opened again, and everything counts as changed then.
 */
export function watchChanges(source: NewsSource, notifier: Notifier, signal: AbortSignal): Watch {
  const listening = Promise.withResolvers<void>();
  const ended = watching(source, new Batch(notifier), signal, listening.resolve);
  return { listening: listening.promise, ended };
}

async function watching(
  { changes, names }: NewsSource,
  batch: Batch,
  signal: AbortSignal,
  asked: () => void,
): Promise<void> {
  const opened = async (again: boolean) => {
    asked();
    if (again) { for (const name of [undefined, ...await names()]) batch.add(true, name); }
  };
  const open = () => changes(signal);
  for await (
    const { type, name } of following({ open, opened, lost: asked, signal, forEver: true })
  ) {
    batch.add(type === "added" || type === "deleted", name);
  }
  batch.drop();
}

/** Changes that wait to be sent. */
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
      // A client may have either spelling of `api:0` from the list, or from the template.
      for (const spelt of [name, encodeURIComponent(name)]) {
        for (const scheme of APP_SCHEMES) this.#uris.add(`${scheme}://${spelt}`);
      }
    }
    this.#timer ??= setTimeout(() => this.#tell(), COALESCE_MS);
  }

  drop(): void {
    clearTimeout(this.#timer);
  }

  #tell(): void {
    const uris = [...this.#uris];
    const list = this.#list;
    this.#uris.clear();
    this.#list = false;
    this.#timer = undefined;
    if (list) this.#notifier.resourcesChanged();
    for (const uri of uris) this.#notifier.resourceUpdated(uri);
  }
}
