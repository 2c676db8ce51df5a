/** The current place in the dashboard: the part of the address after `#`. */

import { computed, signal } from "@preact/signals";

interface Place {
  /** Segments, decoded: `["processes", "api"]`. Empty for the overview. */
  readonly path: readonly string[];
  readonly params: URLSearchParams;
}

const hash = signal(location.hash);

addEventListener("hashchange", () => hash.value = location.hash);

export const place = computed(() => parsePlace(hash.value));

/** Name of the current screen: `overview`, `processes`, `process`, `logs`, … */
export const screen = computed(() => {
  const [first = "overview", second] = place.value.path;
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

export function replaceParams(params: URLSearchParams): void {
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
export function isNewPlace(): boolean {
  const isNew = history.state !== SEEN;
  if (isNew) history.replaceState(SEEN, "");
  return isNew;
}
