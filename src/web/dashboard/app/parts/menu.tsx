/** A button that opens a list of others. */

import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { useAway } from "./use_away.ts";

/** What it is called and holds. `children` gets what closes the menu before something is done. */
export interface MenuProps {
  readonly label: string;
  readonly children: (close: (then: () => void) => () => void) => ComponentChildren;
}

/** The menu; it closes by itself when somebody turns to something else. */
export function Menu({ label, children }: MenuProps) {
  const menu = useRef<HTMLDetailsElement>(null);
  useAway(menu, () => menu.current!.open = false);
  const close = (then: () => void) => () => {
    menu.current!.open = false;
    then();
  };
  return (
    <details class="menu" ref={menu} onKeyDown={(event) => onKey(event, menu.current!)}>
      <summary class="button only-icon" aria-label={label} title={label}>⋯</summary>
      <div class="menu-list">{children(close)}</div>
    </details>
  );
}

function onKey(event: KeyboardEvent, menu: HTMLDetailsElement): void {
  if (!menu.open) return;
  const buttons = [...menu.querySelectorAll<HTMLElement>(".menu-list :is(a, button:enabled)")];
  const at = buttons.indexOf(document.activeElement as HTMLElement);
  const next = { ArrowDown: at + 1, ArrowUp: at < 0 ? -1 : at - 1, Home: 0, End: -1 }[event.key];
  if (event.key === "Escape") {
    menu.open = false;
    menu.querySelector("summary")!.focus();
  } else if (next !== undefined) buttons.at(next % buttons.length)?.focus();
  else return;
  event.preventDefault();
  event.stopPropagation();
}
