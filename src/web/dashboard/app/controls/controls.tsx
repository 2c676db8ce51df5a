/** Buttons, icons, fields, choices, lists of facts, tables, menus, dialogs. */

import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { messageOf } from "../data/api.ts";
import { dateTime, relative } from "../data/format.ts";
import type { Polled } from "../data/polled.ts";
import { clock, mayAdminister } from "../data/store.ts";
import { useKeys } from "../shell/keys.ts";
import { copyText, type Question, question, toast } from "../shell/notices.ts";

interface ButtonProps {
  readonly id?: string;
  readonly icon?: IconName;
  /** Accessible name and tooltip. */
  readonly label?: string;
  readonly kind?: "plain" | "primary" | "danger" | "quiet";
  readonly disabled?: boolean;
  readonly pressed?: boolean;
  readonly submits?: boolean;
  readonly onClick?: (event: MouseEvent) => void;
  readonly children?: ComponentChildren;
}

export function Button(
  { id, icon, label, kind = "plain", disabled, pressed, submits, onClick, children }: ButtonProps,
) {
  return (
    <button
      id={id}
      type={submits ? "submit" : "button"}
      class={`button ${kind}${children === undefined ? " only-icon" : ""}`}
      disabled={disabled}
      aria-label={label}
      aria-pressed={pressed}
      title={label}
      onClick={onClick}
    >
      {icon && <Icon name={icon} />}
      {children !== undefined && <span>{children}</span>}
    </button>
  );
}

/** A button without text that copies something. */
export function CopyButton({ label, text, icon = "copy" }: {
  readonly label: string;
  readonly text: string;
  readonly icon?: IconName;
}) {
  return <Button icon={icon} kind="quiet" label={label} onClick={() => void copyText(text)} />;
}

export function Empty(
  { title, action, children }: {
    readonly title: string;
    readonly action?: { readonly text: string; readonly href: string };
    readonly children?: ComponentChildren;
  },
) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {action && <a class="button primary" href={action.href}>{action.text}</a>}
    </div>
  );
}

export function NotAllowed({ children }: { children: string }) {
  return <Empty title="Not allowed">{children} needs the role admin.</Empty>;
}

/** The way to a page below the processes. */
export function Trail({ children }: { children?: ComponentChildren }) {
  return (
    <nav class="trail small" aria-label="Trail">
      <a href="#/processes">Processes</a> <span aria-hidden="true">/</span>
      {children}
    </nav>
  );
}

export function NothingYet() {
  const action = { text: "New process", href: "#/start" };
  const may = mayAdminister.value;
  return (
    <Empty title="Nothing is running yet" {...(may ? { action } : {})}>
      {may ? "Or on" : "On"} the command line: <code>procsup start server.ts</code>
    </Empty>
  );
}

export function Loading() {
  return (
    <div class="empty" role="status">
      <span class="spinner" aria-hidden="true" /> Loading…
    </div>
  );
}

/** The error of the last request, and the answer; a spinner before either. */
export function Answer<T>({ of: { data, error }, children }: {
  readonly of: Polled<T>;
  readonly children: (data: T) => ComponentChildren;
}) {
  return (
    <>
      {error.value && <p class="bad" role="alert">{error}</p>}
      {data.value !== undefined ? children(data.value) : !error.value && <Loading />}
    </>
  );
}

/** How long ago or ahead a moment is, with its date as tooltip. */
export function Age({ at, kind }: { readonly at: string | null; readonly kind?: string }) {
  if (at === null) return <>–</>;
  const text = relative(Date.parse(at), clock.value);
  return <time dateTime={at} class={kind} title={dateTime(Date.parse(at))}>{text}</time>;
}

const SHAPES = {
  processes: "M8 6h13M8 12h13M8 18h13M3 6h.01M3 12h.01M3 18h.01",
  logs: "M4 5h16M4 10h10M4 15h14M4 20h8",
  graph:
    "M6 9a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM18 21a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM6 9v3a6 6 0 0 0 6 6h3",
  jobs: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3 2",
  settings: "M4 7h9M17 7h3M15 5v4M4 17h3M11 17h9M9 15v4",
  add: "M12 5v14M5 12h14",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM20 20l-4-4",
  light:
    "M12 17a5 5 0 1 0 0-10 5 5 0 0 0 0 10zM12 1v2M12 21v2M4.2 4.2l1.4 1.4M18.4 18.4l1.4 1.4M1 12h2M21 12h2M4.2 19.8l1.4-1.4M18.4 5.6l1.4-1.4",
  dark: "M21 13A9 9 0 1 1 11 3a7 7 0 0 0 10 10z",
  auto: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 3v18M12 8l5.5-2M12 13h9M12 18l5-1",
  help:
    "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM9.5 9a2.5 2.5 0 1 1 3.5 2.5c-.7.3-1 .8-1 1.5v.5M12 17h.01",
  start: "M7 4l13 8-13 8z",
  stop: "M6 6h12v12H6z",
  restart: "M20 11a8 8 0 1 0-2.3 6.7M20 4v7h-7",
  reload: "M4 12a8 8 0 0 1 14-5l2 2M20 4v5h-5M20 12a8 8 0 0 1-14 5l-2-2M4 20v-5h5",
  delete: "M4 7h16M9 7V4h6v3M6 7l1 14h10l1-14",
  download: "M12 4v11M7 11l5 5 5-5M4 20h16",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
  close: "M6 6l12 12M18 6L6 18",
  done: "M4 12l5 6L20 6",
  failed: "M12 3l10 18H2zM12 10v5M12 18h.01",
  up: "M5 15l7-7 7 7",
  down: "M5 9l7 7 7-7",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  wrap: "M4 6h16M4 12h13a3 3 0 0 1 0 6h-4M15 15l-3 3 3 3M4 18h4",
  save: "M5 3h12l4 4v14H3V3zM8 3v6h8V3M8 21v-7h8v7",
  text: "M4 7V5h16v2M12 5v14M9 19h6",
  columns: "M4 4h16v16H4zM12 4v16",
  file: "M6 3h8l5 5v13H6zM14 3v5h5",
  events: "M4 12h4l3-8 4 16 2-8h3",
  blank: "",
  leave: "M10 4H4v16h6M15 8l4 4-4 4M19 12H9",
} as const;

export type IconName = keyof typeof SHAPES;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      class={`icon icon-${name}`}
      width={size}
      height={size}
      viewBox="0 0 24 24"
      aria-hidden="true"
    >
      <path d={SHAPES[name]} />
    </svg>
  );
}

/** procsup's mark: the picture beside its name. */
export function Logo({ size = 26 }: { size?: number }) {
  return (
    <svg class="logo" width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path d="M7 17h4l3-8 5 14 3-6h3" />
    </svg>
  );
}

interface FactsProps {
  readonly kind?: string;
  readonly facts: readonly (readonly [name: string, value: ComponentChildren])[];
  readonly children?: ComponentChildren;
}

export function Facts({ kind = "facts", facts, children }: FactsProps) {
  return (
    <dl class={kind}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
      {children}
    </dl>
  );
}

interface TableProps {
  /** For screen readers. */
  readonly caption: string;
  readonly kind?: string;
  /** True without a frame of its own, inside of another one. */
  readonly isInner?: boolean;
  /** Headings, or pairs of a heading and its class; empty for a column without one. */
  readonly headings: readonly (string | readonly [text: string, kind: string])[];
  readonly children: ComponentChildren;
}

export function Table({ caption, kind, isInner = false, headings, children }: TableProps) {
  const table = (
    <table class={kind}>
      <caption class="unseen">{caption}</caption>
      <thead>
        <tr>
          {headings.map((heading) => {
            const [text, kind] = [heading].flat();
            return text ? <th key={text} scope="col" class={kind}>{text}</th> : <td key="" />;
          })}
        </tr>
      </thead>
      {children}
    </table>
  );
  return isInner ? table : <div class="table-frame">{table}</div>;
}

interface SelectProps<T extends string> {
  readonly id?: string;
  /** Accessible name, unless a label has it. */
  readonly label?: string;
  readonly value: T;
  /** Values, or pairs of a value and its text. */
  readonly options: readonly (T | readonly [value: T, text: string])[];
  readonly onChoose: (value: T) => void;
}

export function Select<T extends string>({ id, label, value, options, onChoose }: SelectProps<T>) {
  return (
    <select
      id={id}
      aria-label={label}
      value={value}
      onChange={({ currentTarget }) => onChoose(currentTarget.value as T)}
    >
      {options.map((option) => {
        const [value, text = value] = typeof option === "string" ? [option] : option;
        return <option key={value} value={value}>{text}</option>;
      })}
    </select>
  );
}

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly value: Signal<string>;
  readonly hint?: string;
  readonly error?: string | undefined;
  readonly required?: boolean;
  readonly options?: readonly string[] | undefined;
  /** Number of lines of a text area; default: a one-line field. */
  readonly rows?: number | undefined;
  readonly placeholder?: string;
  /** Phones show a numeric keyboard. */
  readonly numeric?: boolean;
}

export function Field(
  { name, label, value, hint, error, required, options, rows, numeric, placeholder }: FieldProps,
) {
  const id = `field-${name}`;
  const described = error ? `${id}-error` : hint ? `${id}-hint` : undefined;
  const take = ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
    value.value = currentTarget.value;
  const common = {
    ...{ id, name, required, placeholder, value: value.value, onInput: take },
    autocomplete: "off",
    spellcheck: false,
    "aria-invalid": error !== undefined,
    "aria-describedby": described,
  } as const;
  return (
    <div class={`field${error ? " invalid" : ""}`}>
      <label for={id}>{label}</label>
      {options
        ? (
          <select {...common}>
            {options.map((option) => <option key={option}>{option}</option>)}
          </select>
        )
        : rows
        ? <textarea {...common} rows={rows} />
        : <input {...common} type="text" inputMode={numeric ? "numeric" : undefined} />}
      {error
        ? <p class="bad small" id={`${id}-error`} role="alert">{error}</p>
        : hint && <p class="faint small" id={`${id}-hint`}>{hint}</p>}
    </div>
  );
}

/** A search field, which `/` focuses and Escape leaves. */
export function Search(
  { label, placeholder, value, isInvalid = false, onInput, onEnter, children }: {
    readonly label: string;
    readonly placeholder: string;
    readonly value: string;
    readonly isInvalid?: boolean;
    readonly onInput: (text: string) => void;
    readonly onEnter?: (event: KeyboardEvent) => void;
    readonly children?: ComponentChildren;
  },
) {
  const field = useRef<HTMLInputElement>(null);
  useKeys({ "/": () => field.current?.focus() });
  return (
    <div class={`search${isInvalid ? " invalid" : ""}`}>
      <Icon name="search" />
      <input
        ref={field}
        type="search"
        aria-label={label}
        aria-invalid={isInvalid}
        placeholder={placeholder}
        value={value}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") (event.preventDefault(), event.currentTarget.blur());
          if (event.key === "Enter") onEnter?.(event);
        }}
      />
      {children}
    </div>
  );
}

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
