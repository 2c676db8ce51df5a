/** The form that changes an app: its keys, and beside them the plan and its release. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { baseName } from "../../../../model/name.ts";
import type { ProcessJson, ReconfigureResult } from "../../../../protocol/wire.ts";
import { FieldDiff } from "../config/config_plan.tsx";
import { Button } from "../controls/controls.tsx";
import { call } from "../data/api.ts";
import { go } from "../data/router.ts";
import { run } from "./actions.ts";
import { KEPT, textsOf, yamlOf } from "./key_form.ts";
import { FormFields, textsIn, useForm } from "./start.tsx";

export function ChangeForm({ of: { name, config } }: { of: ProcessJson }) {
  const base = baseName(name);
  const values = useForm(textsOf(config));
  const plan = useSignal<ReconfigureResult | undefined>(undefined);
  const refusal = useSignal<unknown>(undefined);
  const texts = textsIn(values);
  useEffect(() => void (plan.value = refusal.value = undefined), [JSON.stringify(texts)]);
  const change = () => {
    const yaml = yamlOf(
      { ...texts, name: "", instances: "" },
      Object.fromEntries(
        KEPT.map((key) => [key, config[key]]).filter(([, value]) => value != null),
      ),
    );
    return { target: base, config: yaml, replace: true };
  };
  const show = async (event: Event) => {
    event.preventDefault();
    try {
      plan.value = await call("reconfigure", { ...change(), dry_run: true });
      refusal.value = undefined;
    } catch (reason) {
      refusal.value = reason;
    }
  };
  const release = async () => {
    const words = { doing: `Changing ${base}`, done: `Changed ${base}` };
    const payload = change();
    // Its record is on the page of the app, also of a release that fails.
    go(["processes", base]);
    await run(words, "reconfigure", payload);
  };
  return (
    <div class="two">
      <form class="panel start-form" aria-label={`Change ${base}`} onSubmit={show}>
        <p class="faint small">
          A hidden value, ***, stays unless you replace it. Applying a file again overrides the
          changes.
        </p>
        <FormFields values={values} refusal={refusal.value} fixed={KEPT} />
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
