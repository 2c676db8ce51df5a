/** Windows above the page: the native element keeps the focus inside and gives it back. */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { question } from "../data/notices.ts";
import { Button } from "./button.tsx";

/** A window that is open as long as it is drawn. */
export function Dialog(
  { title, onClose, children, wide = false }: {
    readonly title: string;
    readonly onClose: () => void;
    readonly children: ComponentChildren;
    readonly wide?: boolean;
  },
) {
  const ref = useRef<HTMLDialogElement>(null);
  // At once: what is typed next belongs into it.
  useLayoutEffect(() => {
    const dialog = ref.current!;
    const before = document.activeElement;
    dialog.showModal();
    return () => {
      dialog.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      class={wide ? "wide" : ""}
      aria-labelledby="dialog-title"
      onCancel={(event) => (event.preventDefault(), onClose())}
      onClick={(event) => event.target === ref.current && onClose()}
    >
      <div class="dialog-body">
        <h2 id="dialog-title">{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

/** The question that is open, if any. */
export function QuestionDialog() {
  const open = question.value;
  if (open === undefined) return null;
  return (
    <Dialog title={open.title} onClose={() => open.answer(false)} key={open.title}>
      <p>{open.text}</p>
      <div class="row end">
        <Button onClick={() => open.answer(false)}>Cancel</Button>
        <Button kind={open.isDangerous ? "danger" : "primary"} onClick={() => open.answer(true)}>
          {open.confirm}
        </Button>
      </div>
    </Dialog>
  );
}
