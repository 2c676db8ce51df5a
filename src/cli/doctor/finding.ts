/** Findings of the checks. */

import { ifPossible } from "../../model/errors.ts";
import { defaultHome } from "../../platform/paths.ts";
import { shellWord } from "../../model/shell_line.ts";

/** The result of one check. */
export interface Finding {
  readonly check: string;
  readonly status: "ok" | "warning" | "error";
  readonly says: string;
  readonly fix?: string;
}

/** No problem. */
export function ok(check: string, says: string): Finding {
  return { check, status: "ok", says };
}

/** It works, but not as well as it could, or not for long. */
export function warning(check: string, says: string, fix?: string): Finding {
  return { check, status: "warning", says, ...(fix === undefined ? {} : { fix }) };
}

/** It does not work. */
export function wrong(check: string, says: string, fix?: string): Finding {
  return { check, status: "error", says, ...(fix === undefined ? {} : { fix }) };
}

/** The flag that selects this home; empty for the default home. */
export function homeFlag(home: string): string {
  return home === defaultHome() ? "" : ` --home ${shellWord(home)}`;
}

/** Paths in a folder, sorted; empty if it cannot be read. */
export function pathsBelow(folder: string): string[] {
  return listed(folder).map((name) => `${folder}/${name}`);
}

/** Names in a folder, sorted; empty if it cannot be read. */
export function listed(folder: string): string[] {
  return ifPossible(() => [...Deno.readDirSync(folder)].map(({ name }) => name).sort()) ?? [];
}
