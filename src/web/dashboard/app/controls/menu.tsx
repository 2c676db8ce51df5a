/** Menus: opened by a button, with keys, closed by a click elsewhere. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Button } from "./controls.tsx";
import { Icon, type IconName } from "./icons.tsx";

interface MenuProps {
  readonly label: string;
  /** Default: three dots. */
  readonly icon?: IconName;
  /** `close` wraps an action so that the menu closes first. */
  readonly children: (close: (then: () => void) => () => void) => ComponentChildren;
}

/** The menu; it closes on a click or focus elsewhere. */
export function Menu({ label, icon = "more", children }: MenuProps) {
  const menu = useRef<HTMLDetailsElement>(null);
  useAway(menu, () => menu.current!.open = false);
  const close = (then: () => void) => () => {
    menu.current!.open = false;
    then();
  };
  return (
    <details class="menu" ref={menu} onKeyDown={(event) => onKey(event, menu.current!)}>
      <summary class="button only-icon" aria-label={label} title={label}>
        <Icon name={icon} />
      </summary>
      <div class="menu-list">{children(close)}</div>
    </details>
  );
}

/** An entry of a menu that is on or off. */
export function Choice({ text, isOn, onClick }: {
  readonly text: string;
  readonly isOn: boolean;
  readonly onClick: () => void;
}) {
  return (
    <Button kind="quiet" icon={isOn ? "done" : "blank"} pressed={isOn} onClick={onClick}>
      {text}
    </Button>
  );
}

function onKey(event: KeyboardEvent, menu: HTMLDetailsElement): void {
  if (!menu.open) return;
  if (event.key !== "Escape") return stepThrough(menu, event);
  menu.open = false;
  menu.querySelector("summary")!.focus();
  event.preventDefault();
  event.stopPropagation();
}

/** Moves the focus among the entries of a menu by arrows, `j`, `k`, Home and End. */
export function stepThrough(menu: HTMLElement, event: KeyboardEvent): void {
  const entries = [...menu.querySelectorAll<HTMLElement>(":is(a, button:enabled)")];
  const at = entries.indexOf(document.activeElement as HTMLElement);
  const [down, up] = [at + 1, at < 0 ? -1 : at - 1];
  const next = { ArrowDown: down, j: down, ArrowUp: up, k: up, Home: 0, End: -1 }[event.key];
  if (next === undefined) return;
  entries.at(next % entries.length)?.focus();
  event.preventDefault();
  event.stopPropagation();
}

/** Calls `leave` when the pointer is pressed or the focus moves outside of an element. */
export function useAway(frame: { readonly current: HTMLElement | null }, leave: () => void): void {
  useEffect(() => {
    const look = ({ target }: Event) => {
      // The element may already be removed; this listener is removed a moment later.
      if (frame.current !== null && !frame.current.contains(target as Node)) leave();
    };
    document.addEventListener("pointerdown", look);
    document.addEventListener("focusin", look);
    return () => {
      document.removeEventListener("pointerdown", look);
      document.removeEventListener("focusin", look);
    };
  }, []);
}
