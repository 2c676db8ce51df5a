/** The time range shown by charts, events and logs. It is part of the address. */

import { computed, effect, signal } from "@preact/signals";
import { type Range, rangeText, readRange } from "./time_range.ts";
import { go, isNewPlace, linkTo, place, replaceParams, screen } from "./router.ts";

const KEYS = ["range", "from", "to", "at"];
const SCREENS = new Set(["process", "logs", "events", "host"]);

/** The range in the last address, which the next screen keeps. */
const kept = signal("");

export const range = computed(() => {
  const text = rangeIn(place.value.params);
  return readRange(new URLSearchParams(text || kept.value));
});

effect(() => {
  const { params } = place.value;
  const own = rangeIn(params);
  const isNew = isNewPlace();
  if (own === "" && !SCREENS.has(screen.value)) return;
  // Back and forward restore the range of their entry, which may be the default one.
  if (own !== "" || !isNew) kept.value = own;
  else if (kept.peek() !== "") replaceParams(withRange(params));
});

/** Changes the range of all screens. Adds an entry to the browser history. */
export function setRange(next: Range): void {
  const params = new URLSearchParams(place.value.params);
  for (const key of [...KEYS, "mark"]) params.delete(key);
  kept.value = rangeText(next);
  go(place.value.path, withRange(params));
}

/** The address of the log of an app, or of all apps, in a range. */
export function logLink(name: string | undefined, range: Range): string {
  const params = rangeText(range);
  return name === undefined
    ? linkTo(["logs"], params)
    : linkTo(["processes", name], `tab=logs&${params}`);
}

/** Adds the current range to the query of an address. */
function withRange(params: URLSearchParams): URLSearchParams {
  return new URLSearchParams([...params, ...new URLSearchParams(kept.value)]);
}

function rangeIn(params: URLSearchParams): string {
  return String(new URLSearchParams([...params].filter(([key]) => KEYS.includes(key))));
}
