/** Signs in with the printed link, its code, or a token. */

import { signal } from "@preact/signals";
import { ApiError, ask, messageOf } from "./api.ts";
import { credentialIn } from "./credential.ts";
import { place, replacePlace } from "./router.ts";
import { keepSecret } from "./session_secret.ts";

/** Why the opened link failed to sign in; empty on success or without a link. */
export const linkProblem = signal("");

/** Signs in. Throws an error with a message for the user. */
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

/** Signs in if the page was opened by a sign-in link: `#/login?code=…`, which works once. */
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

/** Opening a sign-in link in an existing page only changes the hash: reload. */
addEventListener("hashchange", () => isLink() && location.reload());

function isLink(): boolean {
  return place.value.path[0] === "login";
}

async function openSession(how: { token: string } | { body: { code: string } }): Promise<void> {
  const { secret } = await ask<{ secret: string }>("/session", { method: "POST", ...how });
  keepSecret(secret);
}
