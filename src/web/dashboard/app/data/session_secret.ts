/**
 * The secret of the session. Browsers send the cookie to every port of this host, even to other
 * programs. The secret is shared only by the tabs of this origin, and ends with the last one.
 */

const KEY = "procsup.session";
/** How long other tabs may take to answer. */
const PATIENCE_MS = 300;

/** Messages between tabs: a tab needs the secret, or sends it. `isNew`: it has just signed in. */
type Message = "wanted" | { readonly secret: string; readonly isNew: boolean };

const tabs = new BroadcastChannel(KEY);
let asking: ((secret: string) => void) | undefined;

tabs.addEventListener("message", ({ data }: MessageEvent<Message>) => {
  if (data === "wanted") tell(false);
  else if (data.isNew) sessionStorage.setItem(KEY, data.secret);
  else asking?.(data.secret);
});

export function secretOfTab(): string | undefined {
  return sessionStorage.getItem(KEY) ?? undefined;
}

/** Keeps the secret of a new session, here and in all other tabs. */
export function keepSecret(secret: string): void {
  sessionStorage.setItem(KEY, secret);
  tell(true);
}

/** Replaces an invalid secret with that of another tab. Resolves to false if there is none. */
export function askOtherTabs(): Promise<boolean> {
  const bad = secretOfTab();
  sessionStorage.removeItem(KEY);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  asking = (secret) => {
    if (secret === bad) return;
    sessionStorage.setItem(KEY, secret);
    resolve(true);
  };
  setTimeout(() => resolve(false), PATIENCE_MS);
  tabs.postMessage("wanted" satisfies Message);
  return promise.finally(() => asking = undefined);
}

function tell(isNew: boolean): void {
  const secret = secretOfTab();
  if (secret !== undefined) tabs.postMessage({ secret, isNew } satisfies Message);
}
