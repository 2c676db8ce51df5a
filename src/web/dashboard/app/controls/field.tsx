/** One labelled field of a form. */

import type { Signal } from "@preact/signals";

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

/** Label, field, hint and error. */
export function Field(
  { name, label, value, hint, error, required, options, rows, numeric, placeholder }: FieldProps,
) {
  const id = `field-${name}`;
  const described = error ? `${id}-error` : hint ? `${id}-hint` : undefined;
  const common = {
    id,
    name,
    required,
    value: value.value,
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
          <select {...common} onChange={({ currentTarget }) => value.value = currentTarget.value}>
            {options.map((option) => <option key={option}>{option}</option>)}
          </select>
        )
        : rows
        ? (
          <textarea
            {...common}
            rows={rows}
            placeholder={placeholder}
            onInput={({ currentTarget }) => value.value = currentTarget.value}
          />
        )
        : (
          <input
            {...common}
            type="text"
            inputMode={numeric ? "numeric" : undefined}
            placeholder={placeholder}
            onInput={({ currentTarget }) => value.value = currentTarget.value}
          />
        )}
      {error
        ? <p class="bad small" id={`${id}-error`} role="alert">{error}</p>
        : hint && <p class="faint small" id={`${id}-hint`}>{hint}</p>}
    </div>
  );
}
