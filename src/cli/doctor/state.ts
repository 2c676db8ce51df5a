/** Checks that the state files of a daemon can be read. */

import { dirname } from "../../npm/path.js";
import { readDaemonRecord, STATE_FORMAT } from "../../platform/daemon_record.ts";
import { messageOf } from "../../model/errors.ts";
import { isSetAside, unsealed } from "../../platform/state_file.ts";
import { pathsIn } from "../../platform/paths.ts";
import { shellWord } from "../../model/shell_line.ts";
import { type Finding, ok, pathsBelow, warning, wrong } from "./finding.ts";

export function checkState(home: string): Finding[] {
  const written = readDaemonRecord(home);
  if (written !== undefined && written.state > STATE_FORMAT) {
    const says = `version ${written.version} wrote it, which is newer than this program`;
    return [wrong("state", says, "install procsup again")];
  }
  const { records, saved, cron, webhooks, tokens } = pathsIn(home);
  const files = [dirname(saved), records, cron, webhooks]
    .flatMap(pathsBelow)
    .concat(pathsBelow(home).filter((path) => path.startsWith(tokens)));
  const aside = files.filter(isSetAside);
  const findings = files.filter((path) => /\.json(\.copy)?$/.test(path)).flatMap(damageOf);
  if (aside.length + findings.length === 0) return [ok("state", "all of it can be read")];
  return [
    ...findings,
    ...aside.map((path) =>
      warning("state", `${path} was damaged, and was set aside`, `rm ${shellWord(path)}`)
    ),
  ];
}

/** The findings for a state file. The next daemon sets a damaged file aside. */
function damageOf(path: string): Finding[] {
  try {
    const text = Deno.readTextFileSync(path);
    for (const line of text.trimEnd().split("\n")) unsealed(line);
    return [];
  } catch (error) {
    // Removed meanwhile by a running daemon.
    if (error instanceof Deno.errors.NotFound) return [];
    const why = "code" in (error as Error)
      ? `cannot be read: ${messageOf(error).split(":")[0]}`
      : "is damaged, and will be set aside";
    return [warning("state", `${path} ${why}`, `less ${shellWord(path)}`)];
  }
}
