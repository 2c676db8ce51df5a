/** When somebody turns to something else. */

import { useEffect } from "preact/hooks";

/** Calls back when the pointer goes down, or the focus goes, outside of an element. */
export function useAway(
  frame: { readonly current: HTMLElement | null },
  leave: () => void,
): void {
  useEffect(() => {
    const look = ({ target }: Event) => {
      // It may have gone just now, and this listener goes a moment later.
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
