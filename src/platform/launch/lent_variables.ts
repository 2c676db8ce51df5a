/** Variables that the launcher of a shipped form sets for the Deno that it starts. */

/** These variables, and the ones in which the launcher saves the user's values; empty if unset. */
const LENT = {
  DENO_DIR: "PROCSUP_USER_DENO_DIR",
  DENO_NO_UPDATE_CHECK: "PROCSUP_USER_NO_UPDATE_CHECK",
} as const;

/** The environment with which a launcher was started, from the one that it set. */
export function givenEnvironment(env: Readonly<Record<string, string>>): Record<string, string> {
  const given = { ...env };
  for (const [name, kept] of Object.entries(LENT)) {
    const value = env[kept];
    // Not started by the launcher: the values are the user's.
    if (value === undefined) continue;
    delete given[kept];
    if (value === "") delete given[name];
    else given[name] = value;
  }
  return given;
}

/** Restores the user's own variables, which apps started from here inherit. */
export function giveBackVariables(): void {
  const given = givenEnvironment(Deno.env.toObject());
  for (const name of Object.entries(LENT).flat()) {
    const value = given[name];
    if (value === undefined) Deno.env.delete(name);
    else Deno.env.set(name, value);
  }
}
