/** What is at a path. */

/** What is there itself, a link included; undefined when nothing is. Throws any other failure. */
export function lstatIfAny(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.lstatSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
