/** The current place in the dashboard, the part of the address after `#`, with the time range shown. */

import { HOST } from "../../../../model/name.ts";
import { computed, effect, signal } from "@preact/signals";
import { type Range, rangeText, readRange } from "./time_range.ts";

interface Place {
  /** Segments, decoded: `["processes", "api"]`. Empty for the timeline. */
  readonly path: readonly string[];
  readonly params: URLSearchParams;
}

const hash = signal(location.hash);

addEventListener("hashchange", () => hash.value = location.hash);

export const place = computed(() => parsePlace(hash.value));

/** Name of the current screen: `timeline`, `processes`, `process`, `logs`, … */
export const screen = computed(() => {
  const [first = "timeline", second] = place.value.path;
  return first === "processes" && second !== undefined ? "process" : first;
});

/** Reads `#/a/b?c=d`. */
function parsePlace(text: string): Place {
  const [path = "", query = ""] = text.replace(/^#\/?/, "").split(/\?(.*)/s);
  return {
    path: path.split("/").filter((part) => part !== "").map(decoded),
    params: new URLSearchParams(query),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function linkTo(path: readonly string[], params?: URLSearchParams | string): string {
  const query = params === undefined ? "" : String(params);
  return `#/${path.map(encodeURIComponent).join("/")}${query === "" ? "" : `?${query}`}`;
}

/** Goes to a place, like a link. */
export function go(path: readonly string[], params?: URLSearchParams | string): void {
  location.hash = linkTo(path, params);
  // The event comes later. Keys pressed before it must not act on the old place.
  hash.value = location.hash;
}

/** Changes the query of the current place without a new history entry. */
export function setParams(change: Readonly<Record<string, string>>): void {
  const params = new URLSearchParams(place.value.params);
  for (const [key, value] of Object.entries(change)) {
    if (value === "") params.delete(key);
    else params.set(key, value);
  }
  replaceParams(params);
}

function replaceParams(params: URLSearchParams): void {
  replacePlace(place.value.path, params);
}

/** Goes to a place without a new history entry. */
export function replacePlace(path: readonly string[], params?: URLSearchParams): void {
  const link = linkTo(path, params);
  if (link === hash.value) return;
  history.replaceState(SEEN, "", link);
  hash.value = link;
}

const SEEN = "seen";

/** True once for each history entry: false after going back or forward to it, or a reload. */
function isNewPlace(): boolean {
  const isNew = history.state !== SEEN;
  if (isNew) history.replaceState(SEEN, "");
  return isNew;
}

const KEYS = ["range", "from", "to", "at"];
const SCREENS = new Set(["timeline", "process", "logs", "settings"]);

/** The range in the last address, which the next screen keeps. */
const kept = signal("");

/** The time range shown by charts, events and logs. */
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

/** The address of the log of an app, or of all apps, in a range. The host has no log. */
export function logLink(name: string | undefined, range: Range): string {
  const params = rangeText(range);
  return name === undefined || name === HOST
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
