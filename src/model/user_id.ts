/** Ids of users and groups, and the texts that may name one. */

/** The largest id. The next one is -1 to the system, which leaves the user as it is: root. */
export const MAX_ID = 2 ** 32 - 2;

/** The id that a value gives; undefined for a name. Throws a `RangeError` for a number that is no id. */
export function parseId(value: string | number): number | undefined {
  const text = String(value);
  if (!/^\d+$/.test(text)) return undefined;
  const id = Number(text);
  if (String(id) !== text || id > MAX_ID) throw new RangeError(EXPECTED_ID);
  return id;
}

const EXPECTED_ID = `expected an id from 0 to ${MAX_ID}, without zeros in front`;

/** Why a text names no user or group; undefined if it may. */
export function userProblem(text: string): string | undefined {
  try {
    // Programs that look up users read a name with a sign or a blank in front as a number.
    if (parseId(text) !== undefined || /^[^\s:+-][^\s:]*$/.test(text)) return undefined;
  } catch {
    return EXPECTED_ID;
  }
  return "expected a name or an id";
}
