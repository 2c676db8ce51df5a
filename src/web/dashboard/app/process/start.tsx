/** The form of a new process, and its fields, which the form of a change has too. */

import { type Signal, signal, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { PROCESS_KEYS } from "../../../../model/process_keys.ts";
import { Button, Field, Trail } from "../controls/controls.tsx";
import { ApiError, messageOf } from "../data/api.ts";
import { go, linkTo, screen } from "../data/router.ts";
import { toast } from "../shell/notices.ts";
import { addAndWait } from "./actions.ts";
import { type FieldName, fieldOf, FIELDS, type FormTexts, textsOf, yamlOf } from "./key_form.ts";

type FormSignals = Readonly<Record<FieldName, Signal<string>>>;

export function useForm(texts: FormTexts): FormSignals {
  return useMemo(
    () =>
      Object.fromEntries(
        Object.entries(texts).map(([key, text]) => [key, signal(text)]),
      ) as FormSignals,
    [],
  );
}

export function textsIn(values: FormSignals): FormTexts {
  return Object.fromEntries(
    Object.entries(values).map(([key, { value }]) => [key, value]),
  ) as FormTexts;
}

/** The fields. An error is shown at its field, otherwise below all of them. */
export function FormFields({ values, refusal, fixed = [] }: {
  readonly values: FormSignals;
  /** Why the form was refused; undefined if it was not. */
  readonly refusal: unknown;
  /** Keys that it does not change. */
  readonly fixed?: readonly string[];
}) {
  const wrong = fieldOf(refusal);
  useEffect(() => document.getElementById(`field-${wrong}`)?.focus(), [refusal]);
  const error = refusal === undefined ? undefined : messageOf(refusal);
  return (
    <>
      <div class="form-grid">
        {FIELDS.filter((key) => !fixed.includes(key)).map((key) => {
          const { type, label, help, required, ...row } = PROCESS_KEYS[key]!;
          const usual = "default" in row ? row.default : undefined;
          const shown = typeof usual === "object" || usual === undefined
            ? ""
            : ` (default: ${usual})`;
          return (
            <Field
              key={key}
              name={key}
              label={label ?? key[0]!.toUpperCase() + key.slice(1).replaceAll("_", " ")}
              value={values[key]}
              required={required === true}
              hint={`${help}${shown}${FORMS[key] ?? ""}`}
              error={wrong === key ? error : undefined}
              options={type === "choice"
                ? ["", ...(row as { choices: string[] }).choices]
                : undefined}
              rows={key === "env" ? 3 : undefined}
            />
          );
        })}
      </div>
      <Field
        name="more"
        label="More, as YAML"
        value={values.more}
        rows={6}
        placeholder={EXAMPLE}
        hint="All other keys, see Documentation, Keys"
        error={wrong === "more" ? error : undefined}
      />
      {error && wrong === undefined && <p class="bad" role="alert">{error}</p>}
    </>
  );
}

const FORMS: Partial<Record<FieldName, string>> = {
  args: ". Words as in a shell",
  env: ". KEY=value, one per line",
};

const EXAMPLE = `restart_delay: 1s
health_check: { type: http, url: http://127.0.0.1:3000 }`;

/** Error codes after which the process exists. */
const STARTED = new Set(["start_failed", "timeout"]);

export function Start() {
  const values = useForm(textsOf({}));
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
      const made = await addAndWait(yamlOf(textsIn(values)));
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
  return (
    <>
      <Trail />
      <h1>New process</h1>
      <form class="panel start-form" onSubmit={submit}>
        <FormFields values={values} refusal={refusal.value} />
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
