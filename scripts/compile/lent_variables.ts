/** Variables that a launcher sets for the Deno that it starts. */

/** These variables, and the ones in which the launcher saves the user's values; empty if unset. */
const LENT = {
  DENO_DIR: "PROCSUP_USER_DENO_DIR",
  DENO_NO_UPDATE_CHECK: "PROCSUP_USER_NO_UPDATE_CHECK",
} as const;

/** Restores the user's own variables, which apps started from here inherit. */
export function giveBackVariables(): void {
  for (const [name, kept] of Object.entries(LENT)) {
    const value = Deno.env.get(kept);
    // Not started by the launcher: the values are the user's.
    if (value === undefined) continue;
    Deno.env.delete(kept);
    if (value === "") Deno.env.delete(name);
    else Deno.env.set(name, value);
  }
}
