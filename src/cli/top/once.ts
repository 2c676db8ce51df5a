/** One frame of the view, as text. */

import type { ProcessJson } from "../../protocol/process_json.ts";
import { initialState } from "./state.ts";
import { update } from "./update.ts";
import { view } from "./view.ts";

/** Where there is no terminal to say. */
const COLUMNS = 100;
/** What is not a row of the table: two lines above, the header, the line of keys. */
const OTHER_LINES = 4;

/** The lines about the apps, all of them, without the keys. */
export function frame(
  processes: readonly ProcessJson[],
  { color, columns = COLUMNS }: { color: boolean; columns?: number | undefined },
): string[] {
  const now = Date.now();
  const rows = Math.max(12, processes.length + OTHER_LINES);
  const empty = { ...initialState({ columns, rows, color, now }), pane: "none" as const };
  const { state } = update(empty, { type: "list", processes, now });
  // A picture has no cursor.
  const lines = view({ ...state, cursor: "" }).slice(1, 1 + 2 + Math.max(1, processes.length));
  return lines.map((line) => line.trimEnd());
}
