/** Signing in, and continuing the session after a reload or in another tab. */

import { ApiError, ask } from "./api.ts";
import {
  BASE,
  beginSession,
  distrust,
  dropKey,
  hasSession,
  isInsecure,
  isUnbroken,
} from "./tab_key.ts";

/**
 * Holds a one-time code for a reload, which is void once the daemon stops listening. A proxy may serve
 * several daemons at one origin.
 */
const PASS = `procsup.pass${BASE}`;
/** How long other tabs may take to answer. */
const TABS_MS = 1000;

/** Between tabs: a tab wants to continue the session of another, gets a code for it, or has signed in. */
type Message = "wanted" | "signed_in" | { readonly code: string };

const tabs = new BroadcastChannel(PASS);
let asking: ((code: string) => void) | undefined;
/** Called when another tab has signed in. */
let onSignIn = () => {};

tabs.addEventListener("message", ({ data }: MessageEvent<Message>) => {
  if (data === "signed_in") onSignIn();
  else if (data === "wanted") void share().catch(() => {});
  else asking?.(data.code);
});

export function whenOthersSignIn(act: () => void): void {
  onSignIn = act;
}

/** Opens a session with a token, or with the code of a link. */
export async function openSession(how: { token: string } | { code: string }): Promise<void> {
  if (isInsecure) throw new Error(INSECURE);
  const { token, code } = { token: undefined, code: undefined, ...how };
  await beginSession(async (key) => {
    const body = code === undefined ? { key } : { code, key };
    dropKey();
    const { daemon } = await ask<{ daemon: string }>("/session", {
      ...{ method: "POST", body },
      ...token !== undefined && { token },
    });
    return daemon;
  });
  await keepPass();
  tabs.postMessage("signed_in" satisfies Message);
}

const INSECURE = "Over plain HTTP from another machine a browser cannot sign requests. Use HTTPS " +
  "(web.tls, or a proxy), or a tunnel: ssh -L 9615:127.0.0.1:9615";

/** Gets a code for a reload of this page. Call it whenever the daemon has begun to listen. */
export async function keepPass(): Promise<void> {
  const { code } = await ask<{ code: string }>("/session/pass", {
    ...{ method: "POST", body: { for: "reload" } },
  });
  sessionStorage.setItem(PASS, code);
}

/**
 * Continues the session of this tab before its reload, or that of another tab. Resolves to false if
 * there is none.
 */
export async function continueSession(): Promise<boolean> {
  if (isInsecure) return false;
  const kept = sessionStorage.getItem(PASS);
  sessionStorage.removeItem(PASS);
  return (kept !== null && await openBy(kept)) || await askOtherTabs();
}

async function openBy(code: string): Promise<boolean> {
  try {
    await openSession({ code });
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status > 0) return false;
    throw error;
  }
}

async function askOtherTabs(): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  asking = resolve;
  const late = setTimeout(() => resolve(undefined), TABS_MS);
  tabs.postMessage("wanted" satisfies Message);
  const code = await promise;
  clearTimeout(late);
  asking = undefined;
  return code !== undefined && await openBy(code);
}

/** Sends the other tabs a code to continue this session. */
async function share(): Promise<void> {
  if (!hasSession()) return;
  distrust();
  const { code } = await ask<{ code: string }>("/session/pass", {
    ...{ method: "POST", body: { for: "tab" } },
  });
  if (await isUnbroken()) tabs.postMessage({ code } satisfies Message);
}
