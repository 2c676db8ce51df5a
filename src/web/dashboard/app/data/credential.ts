/** Recognizes pasted credentials. Pure. */

/** The kind of credential in a text; undefined if it has none. */
export function credentialIn(
  text: string,
): { kind: "code" | "token" | "either"; text: string } | undefined {
  const given = text.trim();
  const code = /[?&]code=([0-9a-f]+)/i.exec(given)?.[1];
  if (code !== undefined) return { kind: "code", text: code };
  if (/^ps_[0-9a-f]+$/i.test(given)) return { kind: "token", text: given };
  // The daemon's own token looks like a code.
  return /^[\w-]+$/.test(given) ? { kind: "either", text: given } : undefined;
}
