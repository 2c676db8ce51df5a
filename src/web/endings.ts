/** Who wants to know when a token or a session is not good any more: whatever is kept open by it ends. */

/** Listeners by credential; holds nothing of credentials that nothing is kept open by. */
export class Endings {
  readonly #listeners = new Map<string, Set<() => void>>();

  /** Calls `act` when the credential ends; returns its undoing. */
  when(credential: string, act: () => void): () => void {
    const all = this.#listeners.get(credential) ?? new Set();
    this.#listeners.set(credential, all.add(act));
    return () => {
      all.delete(act);
      if (all.size === 0) this.#listeners.delete(credential);
    };
  }

  /** It is not good any more. */
  end(credential: string): void {
    for (const act of [...this.#listeners.get(credential) ?? []]) act();
  }
}
