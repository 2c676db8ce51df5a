/** The size of the terminal of this program. */

import { ifPossible } from "../model/errors.ts";

/** 80 x 24 if it reports 0, as some terminals do, or if it is gone. */
export function terminalSize(): { readonly columns: number; readonly rows: number } {
  const { columns, rows } = ifPossible(() => Deno.consoleSize()) ?? {};
  return { columns: columns || 80, rows: rows || 24 };
}
