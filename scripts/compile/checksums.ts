/** Writes SHA256SUMS in the format of `sha256sum -c`. */

import { createHash } from "node:crypto";

/** Writes SHA256SUMS for all executables and SBOMs in a folder. */
export function writeChecksums(folder: string): void {
  const names = [...Deno.readDirSync(folder)]
    .filter(({ name, isFile }) => isFile && name !== "SHA256SUMS" && !name.endsWith(".new"))
    .map(({ name }) => name).sort();
  const lines = names.map((name) => `${digest(`${folder}/${name}`)}  ${name}\n`);
  Deno.writeTextFileSync(`${folder}/SHA256SUMS`, lines.join(""));
}

function digest(path: string): string {
  return createHash("sha256").update(Deno.readFileSync(path)).digest("hex");
}
