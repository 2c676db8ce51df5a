/** Compares secrets. Pure. */

/** Whether two texts are the same. Takes as long for a near miss as for a far one. */
export function sameText(given: string, secret: string): boolean {
  let difference = given.length ^ secret.length;
  for (let i = 0; i < secret.length; i++) {
    difference |= given.charCodeAt(i % (given.length || 1)) ^ secret.charCodeAt(i);
  }
  return difference === 0;
}
