/** The form fields of configuration keys. */

import type { Signal } from "@preact/signals";
import { Field } from "../controls/controls.tsx";
import { formGroups, type FormKey, hintOf, optionsOf } from "./key_form.ts";

export const GROUPS = formGroups();

/** The text of each field. */
export type KeyTexts = ReadonlyMap<FormKey, Signal<string>>;

interface GroupProps {
  readonly name: string;
  readonly keys: readonly FormKey[];
  readonly values: KeyTexts;
  readonly wrong: string | undefined;
  readonly error: string;
  readonly isOpen: boolean;
}

/** The fields of one heading; initially closed. */
export function KeyGroup({ name, keys, values, wrong, error, isOpen }: GroupProps) {
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
