/** The keyboard: one table of keys for the whole page, and those of the screen that is shown. */

import { useLayoutEffect, useRef } from "preact/hooks";
import { question } from "./notices.ts";

/** What keys do. Two keys in a row are written with a blank: `g o`. */
type Keys = Readonly<Record<string, () => void>>;

const CHORD_MS = 1200;

const tables: { current: Keys }[] = [];
let first = "";
let firstAt = 0;

/** Adds keys while a component is shown. The newest table has the first say. */
export function useKeys(keys: Keys): void {
  const table = useRef(keys);
  table.current = keys;
  // What is seen takes keys: an effect of the usual kind would come after the paint.
  useLayoutEffect(() => {
    tables.push(table);
    return () => void tables.splice(tables.indexOf(table), 1);
  }, []);
}

/** Listens from now on. */
export function listenForKeys(): void {
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.altKey || event.isComposing) return;
    const isPalette = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k";
    if ((event.ctrlKey || event.metaKey) && !isPalette) return;
    const key = isPalette ? "mod k" : event.key;
    if (question.value !== undefined || isBelowAnother()) return;
    if (isTyping(event.target) && key !== "Escape" && !isPalette) return;
    const act = lookUp(key);
    if (act === undefined) return;
    event.preventDefault();
    act();
  });
}

/** What lies above the page has the keys, Escape before all. */
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

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) {
    return !["checkbox", "radio", "button"].includes(target.type);
  }
  return target.matches("textarea, select, [contenteditable]");
}
