/** Variables that a launcher sets for the Deno that it starts. */

/** The variables, and where the launcher keeps what the user had; empty where that was nothing. */
const LENT = {
  DENO_DIR: "PROCSUP_USER_DENO_DIR",
  DENO_NO_UPDATE_CHECK: "PROCSUP_USER_NO_UPDATE_CHECK",
} as const;

/** Gives the user's own variables back: apps that are started from here must find them. */
export function giveBackVariables(): void {
  for (const [name, kept] of Object.entries(LENT)) {
    const value = Deno.env.get(kept);
    // Started past the launcher: they are the user's.
    if (value === undefined) continue;
    Deno.env.delete(kept);
    if (value === "") Deno.env.delete(name);
    else Deno.env.set(name, value);
  }
}
