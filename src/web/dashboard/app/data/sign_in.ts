/** Signing in by what somebody has: the printed link, its code, or a token. */

import { ApiError, ask } from "./api.ts";

/** What a text is; undefined when it is none of them. Pure. */
export function credentialIn(
  text: string,
): { kind: "code" | "token" | "either"; text: string } | undefined {
  const given = text.trim();
  const code = /[?&]code=([0-9a-f]+)/i.exec(given)?.[1];
  if (code !== undefined) return { kind: "code", text: code };
  if (/^ps_[0-9a-f]+$/i.test(given)) return { kind: "token", text: given };
  // The daemon's own token looks as a code does.
  return /^[\w-]+$/.test(given) ? { kind: "either", text: given } : undefined;
}

/** Signs in. Throws an error for people when that is not possible. */
export async function signIn(text: string): Promise<void> {
  const credential = credentialIn(text);
  if (credential === undefined) throw new Error("This is neither a link, nor a code, nor a token");
  if (credential.kind !== "code") {
    try {
      await ask("/session", { method: "POST", token: credential.text });
      return;
    } catch (error) {
      const isWrong = error instanceof ApiError && error.status === 401;
      if (!isWrong || credential.kind === "token") throw error;
    }
  }
  const response = await fetch(`/login?code=${encodeURIComponent(credential.text)}`, {
    redirect: "manual",
    // Else a failure would be told by a page.
    headers: { accept: "application/json" },
    credentials: "same-origin",
  }).catch(() => {
    throw new Error("The daemon cannot be reached");
  });
  if (response.type === "opaqueredirect") return;
  const { error } = await response.json().catch(() => ({})) as { error?: string };
  throw new Error(error ?? "Signing in failed");
}
