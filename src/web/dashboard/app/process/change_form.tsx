/** The form that changes an app: its keys, and beside them the plan and its release. */

import { signal, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { baseName } from "../../../../model/name.ts";
import type { ProcessJson, ReconfigureResult } from "../../../../protocol/wire.ts";
import { FieldDiff } from "../config/config_plan.tsx";
import { Button } from "../controls/controls.tsx";
import { ask, processPath } from "../data/api.ts";
import { go } from "../data/router.ts";
import { run } from "./actions.ts";
import { configOf, type FormKey, patchOf, textOfKey } from "./key_form.ts";
import { FORM_KEYS, KeyFields } from "./key_fields.tsx";

/** Keys that other requests change. */
const OTHERS = new Set(["name", "instances"]);

const KEYS = FORM_KEYS.filter(({ path }) => !OTHERS.has(path));

export function ChangeForm({ of: { name, config } }: { of: ProcessJson }) {
  const base = baseName(name);
  const before = useMemo(
    () => new Map(KEYS.map((key) => [key, textOfKey(key, config)])),
    [base],
  );
  const values = useMemo(() => new Map(KEYS.map((key) => [key, signal(before.get(key)!)])), [base]);
  const plan = useSignal<ReconfigureResult | undefined>(undefined);
  const refusal = useSignal<unknown>(undefined);
  const texts = JSON.stringify([...values.values()].map(({ value }) => value));
  useEffect(() => void (plan.value = refusal.value = undefined), [texts]);
  const patch = () => {
    const read = (of: (key: FormKey) => string) => configOf(KEYS.map((key) => [key, of(key)]));
    return patchOf(read((key) => before.get(key)!), read((key) => values.get(key)!.value));
  };
  const show = async (event: Event) => {
    event.preventDefault();
    try {
      const path = `${processPath(base)}?dry_run=true`;
      plan.value = await ask<ReconfigureResult>(path, { method: "PATCH", body: patch() });
      refusal.value = undefined;
    } catch (reason) {
      refusal.value = reason;
    }
  };
  const release = async () => {
    const words = { doing: `Changing ${base}`, done: `Changed ${base}` };
    const how = { method: "PATCH", body: patch() } as const;
    // Its record is on the page of the app, also of a release that fails.
    go(["processes", base]);
    await run(words, processPath(base), how);
  };
  return (
    <div class="two">
      <form class="panel start-form" aria-label={`Change ${base}`} onSubmit={show}>
        <p class="faint small">
          Hidden values stay unless you replace them. Applying a file again overrides the changes.
        </p>
        <KeyFields values={values} refusal={refusal.value} />
        <div class="row end">
          <Button onClick={() => go(["processes", name], "tab=config")}>Cancel</Button>
          <Button kind={plan.value ? "plain" : "primary"} submits>Show the plan</Button>
        </div>
      </form>
      {plan.value && <Plan of={plan.value} onRelease={() => void release()} />}
    </div>
  );
}

function Plan({ of: { changes, restarted }, onRelease }: {
  readonly of: ReconfigureResult;
  readonly onRelease: () => void;
}) {
  const text = changes.length === 0
    ? "It has this configuration already."
    : restarted
    ? "Its runs are replaced, one instance after the other."
    : "Nothing is restarted.";
  return (
    <section class="panel" aria-live="polite">
      <h2>Plan</h2>
      <FieldDiff fields={changes} />
      <p>{text}</p>
      <div class="row end">
        <Button kind="primary" disabled={changes.length === 0} onClick={onRelease}>
          Release, undo if it fails
        </Button>
      </div>
    </section>
  );
}
