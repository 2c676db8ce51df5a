/** The form fields of configuration keys. */

import type { Signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Field } from "../controls/controls.tsx";
import { messageOf } from "../data/api.ts";
import { fieldOf, formGroups, type FormKey, hintOf, optionsOf } from "./key_form.ts";

const GROUPS = formGroups();

export const FORM_KEYS = [...GROUPS.values()].flat();

/** The text of each field. */
type KeyTexts = ReadonlyMap<FormKey, Signal<string>>;

interface FieldsProps {
  readonly values: KeyTexts;
  /** Why the form was refused; undefined if it was not. */
  readonly refusal: unknown;
}

/** The fields by heading. An error is shown at its field, otherwise below all of them. */
export function KeyFields({ values, refusal }: FieldsProps) {
  const wrong = fieldOf(refusal, [...values.keys()].map(({ path }) => path));
  // After rendering, which opens the group of the field.
  useEffect(() => document.getElementById(`field-${wrong}`)?.focus(), [refusal]);
  const error = refusal === undefined ? "" : messageOf(refusal);
  return (
    <>
      {[...GROUPS].map(([name, keys], index) => (
        <KeyGroup
          key={name}
          {...{ name, values, wrong, error }}
          keys={keys.filter((key) => values.has(key))}
          isOpen={index === 0}
        />
      ))}
      {error && wrong === undefined && <p class="bad" role="alert">{error}</p>}
    </>
  );
}

interface GroupProps {
  readonly name: string;
  readonly keys: readonly FormKey[];
  readonly values: KeyTexts;
  readonly wrong: string | undefined;
  readonly error: string;
  readonly isOpen: boolean;
}

/** The fields of one heading; initially closed. */
function KeyGroup({ name, keys, values, wrong, error, isOpen }: GroupProps) {
  const fields = keys.map((key) => (
    <Field
      key={key.path}
      name={key.path}
      label={key.label}
      value={values.get(key)!}
      required={key.row.required === true && !key.path.includes(".")}
      hint={hintOf(key.row)}
      error={wrong === key.path ? error : undefined}
      options={optionsOf(key.row)}
      rows={key.row.type === "map" ? 3 : undefined}
      numeric={key.row.type === "int"}
    />
  ));
  if (isOpen) return <div class="form-grid">{fields}</div>;
  return (
    <details open={keys.some(({ path }) => path === wrong)}>
      <summary>{name}</summary>
      <div class="form-grid">{fields}</div>
    </details>
  );
}
