/** What earlier versions of the portable executable left behind. */

import { dirname } from "../../npm/path.js";
import { readDaemonRecord } from "../../platform/daemon_record.ts";
import { isFree } from "../../platform/lock.ts";
import { unpackedFolder } from "../../platform/own_program.ts";
import { humanBytes } from "../../model/human_bytes.ts";
import { counted } from "../human.ts";
import { bytesIn } from "./machine.ts";
import { shellWord } from "../../model/shell_line.ts";
import { type Finding, listed, ok, warning } from "./finding.ts";

/** Held by every process that runs from it; see platform/unpacked.ts. */
function isHeld(folder: string): boolean {
  return listed(folder).includes(".used") && !isFree(`${folder}/.used`);
}

/** The folder that this one was unpacked to, and its neighbours. Nothing in any other form. */
export function checkUnpacked(home: string, own: string | undefined = unpackedFolder()): Finding[] {
  if (own === undefined) return [];
  const used = readDaemonRecord(home)?.words.join("\n") ?? "";
  const old = listed(dirname(own))
    .filter((name) => /^[0-9a-f]{64}$/.test(name))
    .map((name) => `${dirname(own)}/${name}`)
    .filter((path) => path !== own && !used.includes(path) && !isHeld(path));
  if (old.length === 0) return [ok("versions", "no old ones left behind")];
  const bytes = old.reduce((sum, path) => sum + bytesIn(path), 0);
  const says = `${counted(old.length, "old one")} left behind, ${humanBytes(bytes)}`;
  return [warning("versions", says, `rm -r ${old.map(shellWord).join(" ")}`)];
}
