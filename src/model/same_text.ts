/** Compares secrets. Pure. */

/** Whether two texts are equal. The time does not depend on where they differ. */
export function sameText(given: string, secret: string): boolean {
  let difference = given.length ^ secret.length;
  for (let i = 0; i < secret.length; i++) {
    difference |= given.charCodeAt(i % (given.length || 1)) ^ secret.charCodeAt(i);
  }
  return difference === 0;
}
