/** Programs outside of the repository that import the library by its name. */

/**
 * Lets the programs in a folder import `@procsup/procsup` from this checkout, in the way that the
 * documentation gives: `links`. `imports` are packages of their own.
 */
export function linkLibrary(folder: string, imports: Readonly<Record<string, string>> = {}): void {
  const links = [new URL("../../", import.meta.url).pathname];
  Deno.writeTextFileSync(`${folder}/deno.json`, JSON.stringify({ links, imports }));
}
