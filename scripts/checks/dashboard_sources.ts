/** Whether the built dashboard is that of its sources: both carry a hash of them. */

/** What is built, from the root of the repository. */
export const BUILT = "src/web/dashboard/built/app.js.txt";

const SOURCES = "src/web/dashboard/app";

/** Sources outside of the dashboard that end up in it. */
const SHARED = ["src/model/plain_text.ts"];

/** A hash of all that the bundle is made of: the sources, and the versions of the packages. */
export async function sourcesHash(root: string): Promise<string> {
  const files = [...filesIn(root, SOURCES), ...SHARED].sort();
  const texts = files.map((file) => `${file}\n${Deno.readTextFileSync(`${root}/${file}`)}`);
  const { imports } = JSON.parse(Deno.readTextFileSync(`${root}/deno.json`));
  const packages = Object.entries(imports).filter(([name]) => /preact/.test(name));
  const bytes = new TextEncoder().encode([...texts, JSON.stringify(packages)].join("\0"));
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

/** The hash of the sources that the built file was made from; empty when it does not say. */
export function builtFrom(root: string): string {
  const text = Deno.readTextFileSync(`${root}/${BUILT}`);
  return /^\/\/ Built from ([0-9a-f]{64})\n/.exec(text)?.[1] ?? "";
}

function* filesIn(root: string, folder: string): Iterable<string> {
  for (const entry of Deno.readDirSync(`${root}/${folder}`)) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory) yield* filesIn(root, path);
    else if (/\.(tsx?|json)$/.test(entry.name)) yield path;
  }
}
