/** Checks that a home is safe, that the user owns its files, and that they can be read. */

import { ifPossible, messageOf, ProcsupError } from "../../model/errors.ts";
import { shellWord } from "../../model/shell_line.ts";
import { dirname } from "../../npm/path.js";
import { readDaemonRecord, STATE_FORMAT } from "../../platform/daemon_record.ts";
import { checkSocketLength, checkWay, pathsIn } from "../../platform/paths.ts";
import { isSetAside, unsealed } from "../../platform/state_file.ts";
import { type Finding, ok, pathsBelow, warning, wrong } from "./finding.ts";

/** Checks the folder itself. */
export function checkHome(home: string): Finding {
  const check = "home";
  try {
    checkSocketLength(pathsIn(home).socket);
    const info = Deno.lstatSync(home);
    if (info.isSymlink || !info.isDirectory) {
      return wrong(
        check,
        `${home} is not a folder`,
        `mv ${shellWord(home)} ${shellWord(`${home}.old`)}`,
      );
    }
    if (info.uid !== Deno.uid()) {
      const fix = `sudo chown -R ${Deno.uid()} ${shellWord(home)}`;
      return wrong(check, `${home} belongs to user ${info.uid}`, fix);
    }
    checkWay(home);
    return (info.mode! & 0o077) !== 0
      ? wrong(check, `others may look into ${home}`, `chmod 700 ${shellWord(home)}`)
      : ok(check, `${home} is private`);
  } catch (error) {
    if (error instanceof ProcsupError) return wrong(check, messageOf(error));
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return ok(check, `${home} does not exist yet; the first start creates it`);
  }
}

/** Checks the files inside: `sudo procsup …` leaves files that the user's daemon cannot write. */
export function checkOwners(home: string): Finding[] {
  const { records, run, apps, token, tokens } = pathsIn(home);
  const apart = pathsBelow(apps);
  const folders = [home, `${home}/state`, records, run, apps, ...apart];
  const foreign = folders.flatMap(pathsBelow)
    .filter((path) => (statOf(path)?.uid ?? Deno.uid()) !== Deno.uid());
  const owners = foreign.length === 0 ? [] : [wrong(
    "owner",
    `${foreign.length} files in it belong to another user: ${foreign.slice(0, 3).join(", ")}`,
    `sudo chown -R ${Deno.uid()} ${shellWord(home)}`,
  )];
  const open = [token, tokens].filter((path) => ((statOf(path)?.mode ?? 0) & 0o077) !== 0);
  return [
    ...owners,
    ...open.map((path) =>
      wrong("secrets", `others may read ${path}`, `chmod 600 ${shellWord(path)}`)
    ),
  ];
}

function statOf(path: string): Deno.FileInfo | undefined {
  return ifPossible(() => Deno.lstatSync(path));
}

/** Checks that the state files of a daemon can be read. */
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
