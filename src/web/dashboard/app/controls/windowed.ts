/** Follows the visible part of a scrolling element, for lists that render only the rows in view. */

import { type ReadonlySignal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { View } from "./row_layout.ts";

interface ViewListeners {
  /** Called before the view is updated. */
  readonly scrolled?: (element: HTMLElement) => void;
  /** Called before that if the size of the element changed. */
  readonly resized?: (element: HTMLElement) => void;
}

/** Follows the visible part of an element. The listeners of the first call remain. */
export function useView(
  frame: { readonly current: HTMLElement | null },
  { scrolled, resized }: ViewListeners = {},
): ReadonlySignal<View> {
  const view = useSignal<View>({ top: 0, height: 600, width: 800 });
  useEffect(() => {
    const element = frame.current!;
    const look = () => {
      scrolled?.(element);
      const { scrollTop: top, clientHeight: height, clientWidth: width } = element;
      const { value } = view;
      if (top === value.top && height === value.height && width === value.width) return;
      view.value = { top, height, width };
    };
    const observer = new ResizeObserver(() => {
      resized?.(element);
      look();
    });
    observer.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, []);
  return view;
}
