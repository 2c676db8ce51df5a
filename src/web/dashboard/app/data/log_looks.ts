/** How lines are drawn, as the user likes it: kept in the browser. */

import { effect, signal } from "@preact/signals";
import { isPhone } from "./media.ts";

/** How the time of a line is shown. */
export type TimeLook = "exact" | "ago" | "none";

const SIZES = ["small", "medium", "large"] as const;

/** How large lines are written. */
export type LogSize = (typeof SIZES)[number];

const KEY = "procsup.log";

const known = stored();

/** Whether long lines go on in the next row. */
export const wrap = signal(known.wrap ?? isPhone.value);
/** How times are shown. */
export const timeLook = signal<TimeLook>(known.time ?? (isPhone.value ? "none" : "exact"));
/** How large lines are written. */
export const logSize = signal<LogSize>(known.size ?? "medium");

effect(() => {
  const look = { wrap: wrap.value, time: timeLook.value, size: logSize.value };
  document.documentElement.dataset.logSize = logSize.value;
  try {
    localStorage.setItem(KEY, JSON.stringify(look));
  } catch {
    // Storage is switched off: the choice lasts as long as the page.
  }
});

/** The next size, round the end. */
export function nextSize(): void {
  logSize.value = SIZES[(SIZES.indexOf(logSize.value) + 1) % SIZES.length]!;
}

function stored(): { wrap?: boolean; time?: TimeLook; size?: LogSize } {
  try {
    const { wrap, time, size } = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return {
      ...(typeof wrap === "boolean" ? { wrap } : {}),
      ...(["exact", "ago", "none"].includes(time) ? { time } : {}),
      ...(SIZES.includes(size) ? { size } : {}),
    };
  } catch {
    return {};
  }
}
