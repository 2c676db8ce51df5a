/** Toasts, announcements for screen readers, and confirmations. */

import { signal } from "@preact/signals";

export interface Toast {
  readonly id: number;
  readonly kind: "busy" | "done" | "failed";
  readonly text: string;
  readonly detail?: string;
  readonly action?: { readonly label: string; readonly run: () => void };
}

export const toasts = signal<readonly Toast[]>([]);

const SHOWN_MS = { busy: 0, done: 5000, failed: 12_000 };

let lastId = 0;

/** Shows a toast. It disappears after some time, unless it is busy. Returns its id. */
export function toast(kind: Toast["kind"], text: string, more: Partial<Toast> = {}): number {
  const id = more.id ?? ++lastId;
  const shown: Toast = { ...more, id, kind, text };
  toasts.value = [...toasts.value.filter((one) => one.id !== id), shown].slice(-5);
  const ms = SHOWN_MS[kind];
  if (ms > 0) setTimeout(() => toasts.value.find((one) => one === shown) && dismiss(id), ms);
  return id;
}

export function dismiss(id: number): void {
  toasts.value = toasts.value.filter((one) => one.id !== id);
}

/** Browsers have a clipboard only for pages over TLS or of this machine. Others copy the selection. */
export async function copyText(text: string): Promise<void> {
  const isCopied = await navigator.clipboard?.writeText(text).then(() => true, () => false);
  if (isCopied || copySelected(text)) toast("done", "Copied");
  else toast("failed", "This browser does not let the page copy");
}

/** Copies a text through a field that holds it for a moment. Returns false if that is not allowed. */
function copySelected(text: string): boolean {
  const focused = document.activeElement;
  const field = document.createElement("textarea");
  field.className = "unseen";
  field.value = text;
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isCopied;
}

/** The next text for screen readers. */
export const announcement = signal("");

const pending: string[] = [];
let timer: ReturnType<typeof setTimeout> | undefined;

/** Announces a text to screen readers. Texts within half a second are combined. */
export function announce(text: string): void {
  pending.push(text);
  timer ??= setTimeout(() => {
    timer = undefined;
    const all = pending.splice(0);
    announcement.value = all.length > 4
      ? `${all.slice(-3).join(". ")}, and ${all.length - 3} more changes`
      : all.join(". ");
  }, 500);
}

export interface Question {
  readonly title: string;
  readonly text: string;
  readonly confirm: string;
  readonly isDangerous: boolean;
  /** A choice beside the question. */
  readonly option: Option | undefined;
  readonly answer: (answer: Confirmed | undefined) => void;
}

interface Option {
  readonly label: string;
  readonly isChosen: boolean;
}

type Confirmed = Pick<Option, "isChosen">;

export const question = signal<Question | undefined>(undefined);

/** Asks for confirmation. Resolves to undefined unless the user agrees. */
export function confirmed(
  title: string,
  text: string,
  confirm: string,
  more: { readonly isDangerous?: boolean; readonly option?: Option | undefined } = {},
): Promise<Confirmed | undefined> {
  question.value?.answer(undefined);
  return new Promise((resolve) => {
    question.value = {
      ...{ title, text, confirm, isDangerous: more.isDangerous ?? true, option: more.option },
      answer(answer) {
        question.value = undefined;
        resolve(answer);
      },
    };
  });
}
