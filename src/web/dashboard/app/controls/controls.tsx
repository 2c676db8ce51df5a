/** Buttons, fields, choices, lists of facts, tables, notes in place of content. */

import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { dateTime, relative } from "../data/format.ts";
import type { Polled } from "../data/polled.ts";
import { clock, mayAdminister } from "../data/store.ts";
import { useKeys } from "../shell/keys.ts";
import { copyText } from "../shell/notices.ts";
import { Icon, type IconName } from "./icons.tsx";

export interface ButtonProps {
  readonly id?: string;
  readonly icon?: IconName;
  /** Accessible name and tooltip. */
  readonly label?: string;
  readonly kind?: "plain" | "primary" | "danger" | "quiet";
  readonly disabled?: boolean;
  readonly pressed?: boolean;
  readonly submits?: boolean;
  /** Id of the menu that it opens. */
  readonly opens?: string;
  readonly onClick?: (event: MouseEvent) => void;
  readonly children?: ComponentChildren;
}

export function Button(
  { id, icon, label, kind = "plain", disabled, pressed, submits, opens, onClick, children }:
    ButtonProps,
) {
  return (
    <button
      id={id}
      type={submits ? "submit" : "button"}
      class={`button ${kind}${children === undefined ? " only-icon" : ""}`}
      disabled={disabled}
      popovertarget={opens}
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
