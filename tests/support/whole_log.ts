/** Reads a whole log without the reader under test. */

import { listArchives, openArchive } from "../../src/logs/write/archives.ts";
import { readPosition } from "../../src/logs/write/log_position.ts";
import { waitFor } from "./wait_for.ts";

/** The text of all archives and the file of a log, as they are between two rotations. */
export async function wholeLog(log: string): Promise<string> {
  for (;;) {
    // During a cut, the same lines can be in the archive and in the log, or in neither.
    await waitFor(() => readPosition(log).phase === "idle", { what: `"${log}" to be rotated` });
    const { base, changes } = readPosition(log);
    const text = await textOf(log, base);
    if (readPosition(log).changes === changes) return text;
  }
}

async function textOf(log: string, base: number): Promise<string> {
  const parts: Blob[] = [];
  for (const archive of listArchives(log, base)) {
    parts.push(await new Response(await openArchive(archive)).blob());
  }
  parts.push(new Blob([await Deno.readFile(log)]));
  return await new Blob(parts).text();
}
