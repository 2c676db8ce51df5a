/** Signing in by the printed link, its code, or a token. */

import { signal } from "@preact/signals";
import { ApiError, ask, messageOf } from "./api.ts";
import { credentialIn } from "./credential.ts";
import { place, replacePlace } from "./router.ts";
import { keepSecret } from "./session_secret.ts";

/** Why the link that was opened did not sign in; empty when it did, or there was none. */
export const linkProblem = signal("");

/** Signs in. Throws an error for people when that is not possible. */
export async function signIn(text: string): Promise<void> {
  const credential = credentialIn(text);
  if (credential === undefined) throw new Error("This is neither a link, nor a code, nor a token");
  const { kind, text: given } = credential;
  if (kind === "code") return await openSession({ body: { code: given } });
  try {
    return await openSession({ token: given });
  } catch (error) {
    if (!isWrong(error) || kind === "token") throw error;
  }
  try {
    await openSession({ body: { code: given } });
  } catch (error) {
    throw isWrong(error) ? new Error(NEITHER) : error;
  }
}

const NEITHER = "This is not a valid token, and not a valid code: a code works once, for a minute";

function isWrong(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401;
}

/** Signs in when the page was opened by a link that does: `#/login?code=…`, which works once. */
export async function signInByLink(): Promise<void> {
  if (!isLink()) return;
  const code = place.value.params.get("code") ?? "";
  replacePlace([]);
  try {
    await openSession({ body: { code } });
  } catch (error) {
    linkProblem.value = messageOf(error);
  }
}

/** A link that is opened in a page that is there already is taken up by loading it again. */
addEventListener("hashchange", () => isLink() && location.reload());

function isLink(): boolean {
  return place.value.path[0] === "login";
}

async function openSession(how: { token: string } | { body: { code: string } }): Promise<void> {
  const { secret } = await ask<{ secret: string }>("/session", { method: "POST", ...how });
  keepSecret(secret);
}
