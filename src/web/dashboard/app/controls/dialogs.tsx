/** Dialogs: with a form, with a question, or with other content. */

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { messageOf } from "../data/api.ts";
import { type Question, question, toast } from "../shell/notices.ts";
import { Button } from "./controls.tsx";

/** A window that is open as long as it is rendered. */
export function Dialog(
  { title, onClose, children, wide = false }: {
    readonly title: string;
    readonly onClose: () => void;
    readonly children: ComponentChildren;
    readonly wide?: boolean;
  },
) {
  const ref = useRef<HTMLDialogElement>(null);
  // Before the paint, so that keys typed next go into the dialog.
  useLayoutEffect(() => {
    const dialog = ref.current!;
    const before = document.activeElement;
    const { hash } = location;
    dialog.showModal();
    // The event of an earlier change may come only now.
    const left = () => location.hash !== hash && onClose();
    addEventListener("hashchange", left);
    return () => {
      removeEventListener("hashchange", left);
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
      // Not a click: selecting text in a field may end outside of the dialog.
      onPointerDown={(event) => event.target === ref.current && onClose()}
    >
      <div class="dialog-body">
        <h2 id="dialog-title">{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

/** A dialog with a form: its fields, then the buttons to cancel and to submit. */
export function FormDialog({ title, verb, doing, onSubmit, onClose, children }: {
  readonly title: string;
  readonly verb: string;
  /** Such as `Changing api`. */
  readonly doing: string;
  /** The dialog closes when it succeeds, and shows its error. */
  readonly onSubmit: () => void | Promise<void>;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}) {
  const error = useSignal("");
  const isBusy = useSignal(false);
  // It may be closed before the answer, and another one opened.
  const isOpen = useRef(true);
  useEffect(() => () => void (isOpen.current = false), []);
  const submit = async (event: Event) => {
    event.preventDefault();
    isBusy.value = true;
    error.value = "";
    try {
      await onSubmit();
      if (isOpen.current) onClose();
    } catch (reason) {
      error.value = messageOf(reason);
      if (!isOpen.current) toast("failed", `${doing} failed`, { detail: error.value });
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit}>
        {children}
        {error.value && <p class="bad" role="alert">{error}</p>}
        <div class="row end">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" submits disabled={isBusy.value}>
            {isBusy.value ? `${doing}…` : verb}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

export function QuestionDialog() {
  const open = question.value;
  if (open === undefined) return null;
  return <AskedQuestion key={open.title} {...open} />;
}

function AskedQuestion({ title, text, confirm, isDangerous, option, answer }: Question) {
  const isChosen = useSignal(option?.isChosen ?? false);
  return (
    <Dialog title={title} onClose={() => answer(undefined)}>
      <p>{text}</p>
      {option && (
        <label class="row">
          <input
            type="checkbox"
            checked={isChosen}
            onChange={({ currentTarget }) => isChosen.value = currentTarget.checked}
          />
          {option.label}
        </label>
      )}
      <div class="row end">
        <Button onClick={() => answer(undefined)}>Cancel</Button>
        <Button
          kind={isDangerous ? "danger" : "primary"}
          onClick={() => answer({ isChosen: isChosen.value })}
        >
          {confirm}
        </Button>
      </div>
    </Dialog>
  );
}
