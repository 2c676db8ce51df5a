/** Reads a whole log without the reader under test. */

import { listArchives, openArchive } from "../../src/logs/archives.ts";
import { readPosition } from "../../src/logs/log_position.ts";

/** The text of all archives and the file of a log. */
export async function wholeLog(log: string): Promise<string> {
  const parts: Blob[] = [];
  for (const archive of listArchives(log, readPosition(log).base)) {
    parts.push(await new Response(await openArchive(archive)).blob());
  }
  parts.push(new Blob([await Deno.readFile(log)]));
  return await new Blob(parts).text();
}
