/** Whether what a daemon keeps about its processes can be read. */

import { readDaemonRecord, STATE_FORMAT } from "../../platform/daemon_record.ts";
import { dirname, pathsIn } from "../../platform/paths.ts";
import { shellWord } from "../shell_word.ts";
import { type Finding, listed, ok, warning, wrong } from "./finding.ts";

/** Records and saved state of a home. */
export function checkState(home: string): Finding[] {
  const written = readDaemonRecord(home);
  if (written !== undefined && written.state > STATE_FORMAT) {
    const says = `version ${written.version} wrote it, which is newer than this program`;
    return [wrong("state", says, "install procsup again")];
  }
  const { records, saved } = pathsIn(home);
  const files = [records, dirname(saved)]
    .flatMap((folder) => listed(folder).map((name) => `${folder}/${name}`));
  const aside = files.filter((path) => path.endsWith(".unreadable"));
  const broken = files.filter((path) => path.endsWith(".json") && !isJson(path, records));
  if (aside.length + broken.length === 0) return [ok("state", "all of it can be read")];
  return [
    ...several(broken, "cannot be read, and will be set aside", "less"),
    ...several(aside, "could not be read, and was set aside", "rm"),
  ];
}

function several(paths: readonly string[], says: string, verb: string): Finding[] {
  return paths.map((path) => warning("state", `${path} ${says}`, `${verb} ${shellWord(path)}`));
}

function isJson(path: string, records: string): boolean {
  try {
    const text = Deno.readTextFileSync(path);
    // A record has one more line for each change; the first one says who it is.
    JSON.parse(path.startsWith(records) ? text.split("\n", 1)[0]! : text);
    return true;
  } catch (error) {
    // Gone meanwhile: a daemon is at work.
    return error instanceof Deno.errors.NotFound;
  }
}
