/** A log as a person would put it together. */

import { listArchives, openArchive } from "../../src/logs/archives.ts";
import { readPosition } from "../../src/logs/log_position.ts";

/** Everything there is of a log, by archives and file, without the reader that is tested. */
export async function wholeLog(log: string): Promise<string> {
  const parts: Blob[] = [];
  for (const archive of listArchives(log, readPosition(log).base)) {
    parts.push(await new Response(await openArchive(archive)).blob());
  }
  parts.push(new Blob([await Deno.readFile(log)]));
  return await new Blob(parts).text();
}
