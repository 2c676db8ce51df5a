/** The one range of time that charts, events and logs show. It stands in the address. */

import { computed, effect, signal } from "@preact/signals";
import { type Range, rangeText, readRange } from "./time_range.ts";
import { go, linkTo, place, replaceParams, screen } from "./router.ts";

const KEYS = ["range", "from", "to", "at"];
const SCREENS = new Set(["process", "logs", "events", "host"]);

/** What the last address said of it: the next screen shows the same. */
const kept = signal("");

/** The range that is shown. */
export const range = computed(() => {
  const text = rangeIn(place.value.params);
  return readRange(new URLSearchParams(text || kept.value));
});

effect(() => {
  const { params } = place.value;
  const own = rangeIn(params);
  if (own !== "") kept.value = own;
  else if (kept.value !== "" && SCREENS.has(screen.value)) replaceParams(withRange(params));
});

/** Shows another range, from now on, on all screens. A step in the history. */
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

/** The query of an address, with the range that is shown. */
function withRange(params: URLSearchParams): URLSearchParams {
  return new URLSearchParams([...params, ...new URLSearchParams(kept.value)]);
}

function rangeIn(params: URLSearchParams): string {
  return String(new URLSearchParams([...params].filter(([key]) => KEYS.includes(key))));
}
