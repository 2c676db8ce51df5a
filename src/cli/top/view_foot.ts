/** The last line: what is typed or asked, what was done, or which keys there are. Pure. */

import { textWidth } from "../text_width.ts";
import { COMMON_BINDINGS, keyLabel, PANE_BINDINGS, TABLE_BINDINGS } from "./bindings.ts";
import { type Prompt, suggestions } from "./prompt.ts";
import { chosen, type TopState } from "./state.ts";
import type { Style } from "./style.ts";
import { cleanLine, cut, shorten } from "./text.ts";

/** The last line of the screen. */
export function footLine(state: TopState, style: Style): string {
  const { prompt, notice, columns } = state;
  if (prompt !== undefined) return promptLine(prompt, state, style);
  if (notice !== undefined) {
    const text = shorten(cleanLine(notice.text), columns);
    return notice.bad ? style.bad(text) : style.good(text);
  }
  return hints(state, style);
}

function promptLine(prompt: Prompt, state: TopState, style: Style): string {
  const { columns } = state;
  if (prompt.type === "confirm") return style.bold(shorten(cleanLine(prompt.question), columns));
  const label = labelOf(prompt.type, state);
  // The end of what is typed stays in sight.
  const room = Math.max(1, columns - textWidth(label) - 1);
  const typed = cut(prompt.text, Infinity, Math.max(0, textWidth(prompt.text) - room));
  const line = label + typed + style.cursor(" ");
  const more = suggestions(prompt).slice(0, 20).join(" ");
  const left = columns - textWidth(line) - 2;
  return left > 4 && more !== "" ? `${line}  ${style.dim(shorten(more, left))}` : line;
}

function labelOf(type: Exclude<Prompt["type"], "confirm">, state: TopState): string {
  switch (type) {
    case "filter":
      return "filter: ";
    case "search":
      return "search: ";
    case "palette":
      return ":";
    case "signal": {
      const apps = chosen(state);
      return `signal to ${apps.length === 1 ? cleanLine(apps[0]!.name) : `${apps.length} apps`}: `;
    }
  }
}

/** The keys that can be told of in one line, the ones that help most first. */
function hints({ focus, columns }: TopState, style: Style): string {
  const [help, quit, ...common] = COMMON_BINDINGS;
  const own = focus === "pane" ? PANE_BINDINGS : TABLE_BINDINGS;
  let line = "";
  let width = 0;
  for (const { keys, hint } of [help!, quit!, ...own, ...common]) {
    if (hint === undefined) continue;
    const label = keyLabel(keys[0]!);
    const gap = width === 0 ? "" : "  ";
    width += gap.length + label.length + 1 + hint.length;
    if (width > columns) break;
    line += `${gap}${style.bold(label)} ${hint}`;
  }
  return line;
}
