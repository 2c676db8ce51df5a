/** What a look at something comes to. */

import { defaultHome } from "../../platform/paths.ts";
import { shellWord } from "../../model/shell_line.ts";

/** One thing that was looked at. */
export interface Finding {
  readonly check: string;
  readonly status: "ok" | "warning" | "error";
  readonly says: string;
  /** A command that mends it. */
  readonly fix?: string;
}

/** Nothing wrong. */
export function ok(check: string, says: string): Finding {
  return { check, status: "ok", says };
}

/** It works, and will not for long, or not as it might. */
export function warning(check: string, says: string, fix?: string): Finding {
  return { check, status: "warning", says, ...(fix === undefined ? {} : { fix }) };
}

/** It does not work. */
export function wrong(check: string, says: string, fix?: string): Finding {
  return { check, status: "error", says, ...(fix === undefined ? {} : { fix }) };
}

/** The flag that selects this home, for commands that would use another by default. */
export function homeFlag(home: string): string {
  return home === defaultHome() ? "" : ` --home ${shellWord(home)}`;
}

/** Names in a folder; none where it cannot be read. */
export function listed(folder: string): string[] {
  try {
    return [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
  } catch {
    return [];
  }
}
