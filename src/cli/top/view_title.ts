/** The line above the pane. Pure. */

import { textWidth } from "../text_width.ts";
import type { TopState } from "./state.ts";
import type { Style } from "./style.ts";
import { cleanLine, shorten } from "./text.ts";

/** Parts of a title, the first one its name, drawn as a rule across the screen. */
export function paneTitle(
  parts: readonly string[],
  { columns, focus }: TopState,
  style: Style,
): string {
  const text = shorten(
    `── ${cleanLine(parts.filter((part) => part !== "").join(" ── "))} `,
    columns,
  );
  const line = text + "─".repeat(Math.max(0, columns - textWidth(text)));
  // What has the keys stands out without colours, too.
  return focus === "pane" ? style.bold(line.replaceAll("─", "━")) : style.dim(line);
}
