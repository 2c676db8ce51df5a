/** What of a scrolled list is in sight, and whether it keeps to its end. */

import type { Signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

const TOUCHES = ["wheel", "touchmove", "pointerdown", "pointerup", "keydown"];
const SCROLL_KEYS = ["End", "PageDown", "ArrowDown", " "];
/** Scrolling goes on for a while after the touch that began it. */
const INTENT_MS = 1000;
/** Keeps track of what is in sight; scrolling up ends the following. */
export function useView(
  frame: { readonly current: HTMLDivElement | null },
  view: Signal<{ top: number; height: number; width: number }>,
  follow: Signal<boolean>,
): void {
  useEffect(() => {
    const element = frame.current!;
    let before = element.scrollTop;
    let touchedAt = -Infinity;
    const touched = (event: Event) => {
      // A click on a line is none, one on the scroll bar is.
      if (event instanceof PointerEvent && event.target !== element) return;
      if (event instanceof WheelEvent && event.deltaY <= 0) return;
      if (event instanceof KeyboardEvent && !SCROLL_KEYS.includes(event.key)) return;
      touchedAt = performance.now();
    };
    // What the page itself scrolls is nobody's wish to follow.
    const isMeant = () => performance.now() - touchedAt < INTENT_MS;
    for (const type of TOUCHES) element.addEventListener(type, touched, { passive: true });
    const look = () => {
      const { scrollTop, clientHeight, clientWidth, scrollHeight } = element;
      const atEnd = scrollTop + clientHeight >= scrollHeight - 2;
      if (scrollTop < before - 2 && !atEnd) follow.value = false;
      else if (atEnd && scrollTop > before && isMeant()) follow.value = true;
      before = scrollTop;
      const { top, height, width } = view.value;
      if (top === scrollTop && height === clientHeight && width === clientWidth) return;
      view.value = { top: scrollTop, height: clientHeight, width: clientWidth };
    };
    const resized = new ResizeObserver(() => {
      if (follow.value) element.scrollTop = element.scrollHeight;
      look();
    });
    resized.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      resized.disconnect();
      element.removeEventListener("scroll", look);
      for (const type of TOUCHES) element.removeEventListener(type, touched);
    };
  }, []);
}
