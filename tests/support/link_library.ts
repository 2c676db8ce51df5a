/** Programs outside of the repository that import the library by its name. */

const ROOT = new URL("../../", import.meta.url).pathname;

/** For a program elsewhere that imports our source by path, whose packages have names. */
export const BY_OUR_NAMES = ["--config", `${ROOT}deno.json`];

/**
 * Lets the programs in a folder import `@procsup/procsup` from this checkout, in the way that the
 * documentation gives: `links`. `imports` are packages of their own.
 */
export function linkLibrary(folder: string, imports: Readonly<Record<string, string>> = {}): void {
  const links = [ROOT];
  Deno.writeTextFileSync(`${folder}/deno.json`, JSON.stringify({ links, imports }));
}
