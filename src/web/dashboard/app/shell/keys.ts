/** The keyboard: a global table of keys, and those of the current screen. */

import { useLayoutEffect, useRef } from "preact/hooks";
import { question } from "./notices.ts";

/** Actions by key. Two keys in a row are separated by a space: `g o`. */
type Keys = Readonly<Record<string, () => void>>;

const CHORD_MS = 1200;

const tables: { current: Keys }[] = [];
let first = "";
let firstAt = 0;

/** Adds keys while a component is shown. The newest table has precedence. */
export function useKeys(keys: Keys): void {
  const table = useRef(keys);
  table.current = keys;
  // Not `useEffect`, which runs after the paint: a visible component must handle keys.
  useLayoutEffect(() => {
    tables.push(table);
    return () => void tables.splice(tables.indexOf(table), 1);
  }, []);
}

export function listenForKeys(): void {
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.altKey || event.isComposing) return;
    const isPalette = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k";
    if ((event.ctrlKey || event.metaKey) && !isPalette) return;
    const key = isPalette ? "mod k" : event.key;
    if (question.value !== undefined || isBelowAnother()) return;
    if (isTyping(event.composedPath()[0]) && key !== "Escape" && !isPalette) return;
    const act = lookUp(key);
    if (act === undefined) return;
    event.preventDefault();
    act();
  });
}

/** True while a dialog or popover is open, which handles the keys, Escape above all. */
function isBelowAnother(): boolean {
  return document.querySelector("dialog[open], :popover-open") !== null;
}

function lookUp(key: string): (() => void) | undefined {
  const chord = performance.now() - firstAt < CHORD_MS && first !== "" ? `${first} ${key}` : "";
  first = "";
  for (const name of chord === "" ? [key] : [chord, key]) {
    for (const { current } of tables.toReversed()) {
      if (Object.hasOwn(current, name)) return current[name];
    }
  }
  if (key === "g") {
    first = key;
    firstAt = performance.now();
  }
  return undefined;
}

function isTyping(target: EventTarget | undefined): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) {
    return !["checkbox", "radio", "button"].includes(target.type);
  }
  return target.matches("textarea, select, [contenteditable]");
}
