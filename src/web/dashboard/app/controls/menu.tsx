/** Menus: opened by a button, with keys, closed by Escape or a press elsewhere. */

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { Button, type ButtonProps } from "./controls.tsx";

interface MenuProps extends Pick<ButtonProps, "id" | "icon" | "kind"> {
  /** Of the button, unless it has a text. */
  readonly label?: string;
  /** Of the menu, if it has another name than the button. */
  readonly title?: string;
  readonly text?: ComponentChildren;
  /** Class of the menu. */
  readonly look?: string;
  /** `close` wraps an action so that the menu closes first. */
  readonly children: (close: (then: () => void) => () => void) => ComponentChildren;
}

export function Menu(
  { label, title, text, icon = "more", look = "", children, ...button }: MenuProps,
) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const isOpen = useSignal(false);
  const close = (then: () => void) => () => {
    list.current!.hidePopover();
    then();
  };
  useLayoutEffect(() => {
    if (isOpen.value) list.current!.querySelector<HTMLElement>("button, input")?.focus();
  }, [isOpen.value]);
  return (
    <>
      <Button {...button} {...{ label, icon }} opens={id}>{text}</Button>
      <div
        ref={list}
        id={id}
        popover="auto"
        class={`menu-list ${look}`}
        role="group"
        aria-label={title}
        onBeforeToggle={({ newState }) => isOpen.value = newState === "open"}
        onKeyDown={(event) => stepThrough(list.current!, event)}
      >
        {isOpen.value && children(close)}
      </div>
    </>
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

/** Moves the focus among the entries of a menu by arrows, `j`, `k`, Home and End. */
function stepThrough(menu: HTMLElement, event: KeyboardEvent): void {
  if (event.target instanceof HTMLInputElement) return;
  const entries = [...menu.querySelectorAll<HTMLElement>(":is(a, button:enabled)")];
  const at = entries.indexOf(document.activeElement as HTMLElement);
  const [down, up] = [at + 1, at < 0 ? -1 : at - 1];
  const next = { ArrowDown: down, j: down, ArrowUp: up, k: up, Home: 0, End: -1 }[event.key];
  if (next === undefined) return;
  entries.at(next % entries.length)?.focus();
  event.preventDefault();
  event.stopPropagation();
}
