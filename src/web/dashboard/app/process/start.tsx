/** The form of a new process. */

import { type Signal, signal, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { ApiError, messageOf } from "../data/api.ts";
import { toast } from "../shell/notices.ts";
import { go, linkTo, screen } from "../data/router.ts";
import { addAndWait } from "./actions.ts";
import type { ProcessJson } from "../../../../protocol/wire.ts";
import { Button, Field, Trail } from "../controls/controls.tsx";
import { configOf, fieldOf, formGroups, type FormKey, hintOf, optionsOf } from "./key_form.ts";

const GROUPS = formGroups();
const KEYS = [...GROUPS.values()].flat();
const PATHS = KEYS.map(({ path }) => path);

/** Error codes after which the process exists. */
const STARTED = new Set(["start_failed", "timeout"]);

type Values = ReadonlyMap<FormKey, Signal<string>>;

export function Start() {
  const values: Values = useMemo(() => new Map(KEYS.map((key) => [key, signal("")])), []);
  const refusal = useSignal<unknown>(undefined);
  const busy = useSignal(false);
  // The user may have left meanwhile.
  const leave = (name?: string) =>
    screen.value === "start" && go(["processes", ...(name ? [name] : [])]);
  const submit = async (event: Event) => {
    event.preventDefault();
    busy.value = true;
    refusal.value = undefined;
    try {
      const body = configOf([...values].map(([key, { value }]) => [key, value]));
      const made = await addAndWait<ProcessJson>(body);
      toast("done", `Started ${made.name}`);
      leave(made.name);
    } catch (reason) {
      if (reason instanceof ApiError && STARTED.has(reason.code)) {
        // The page of the process shows the reason.
        toast("failed", reason.message);
        return void leave(reason.process);
      }
      refusal.value = reason;
    } finally {
      busy.value = false;
    }
  };
  const wrong = fieldOf(refusal.value, PATHS);
  // After rendering, which opens the group of the field.
  useEffect(() => document.getElementById(`field-${wrong}`)?.focus(), [refusal.value]);
  const error = refusal.value === undefined ? "" : messageOf(refusal.value);
  return (
    <>
      <Trail />
      <h1>New process</h1>
      <form class="panel start-form" onSubmit={submit}>
        {[...GROUPS].map(([name, keys], index) => (
          <Group key={name} {...{ name, keys, values, wrong }} error={error} isOpen={index === 0} />
        ))}
        {error && wrong === undefined && <p class="bad" role="alert">{error}</p>}
        <div class="row end">
          <a class="button" href={linkTo(["processes"])}>Cancel</a>
          <Button kind="primary" icon="start" submits disabled={busy.value}>
            {busy.value ? "Starting…" : "Start"}
          </Button>
        </div>
      </form>
    </>
  );
}

interface GroupProps {
  readonly name: string;
  readonly keys: readonly FormKey[];
  readonly values: Values;
  readonly wrong: string | undefined;
  readonly error: string;
  readonly isOpen: boolean;
}

/** The fields of one heading; initially closed. */
function Group({ name, keys, values, wrong, error, isOpen }: GroupProps) {
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
