/**
 * The secret of the session. Other programs on this host get the cookie, too, because a browser sends
 * it to every port; the secret is shared by the tabs of this origin only, and ends with the last one.
 */

/** Header that carries it. */
export const SECRET_HEADER = "procsup-session";

const KEY = "procsup.session";
/** How long other tabs may take to answer. */
const PATIENCE_MS = 300;

/** What tabs tell each other: that one looks for a secret, has one, or has just signed in. */
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

/** Takes the secret of another tab in place of one that is not good. Resolves with whether one had another. */
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
