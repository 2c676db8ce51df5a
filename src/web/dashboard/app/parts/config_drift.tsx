/** How a process differs from what the configuration files say that were applied last. */

import { useSignal } from "@preact/signals";
import { ask, messageOf } from "../data/api.ts";
import { baseName } from "../data/select.ts";
import type { ConfigReloadResult } from "../data/types.ts";
import { Button } from "./button.tsx";
import { FieldDiff } from "./field_diff.tsx";
import { processDialog } from "./process_dialogs.tsx";

/** A button, and then the answer. */
export function ConfigDrift({ name }: { name: string }) {
  const plan = useSignal<ConfigReloadResult | undefined>(undefined);
  const error = useSignal("");
  const compare = async () => {
    try {
      const body = { dry_run: true };
      plan.value = await ask<ConfigReloadResult>("/config/reload", { method: "POST", body });
      error.value = "";
    } catch (reason) {
      error.value = messageOf(reason);
    }
  };
  return (
    <section class="panel drift" aria-live="polite">
      <div class="row between wrap">
        <p>
          {error.value
            ? <span class="bad">{error}</span>
            : plan.value === undefined
            ? <span class="faint">Does it still match its configuration file?</span>
            : <Verdict name={baseName(name)} plan={plan.value} />}
        </p>
        <span class="row wrap">
          <Button icon="file" onClick={() => void compare()}>Compare with the file</Button>
          <Button onClick={() => processDialog.value = { kind: "change", name }}>Change…</Button>
        </span>
      </div>
      {plan.value && <FieldDiff fields={changeOf(name, plan.value)?.fields ?? []} />}
    </section>
  );
}

function Verdict({ name, plan }: { name: string; plan: ConfigReloadResult }) {
  const change = changeOf(name, plan);
  if (change !== undefined) {
    return (
      <>
        The file says something else: applying it would {change.restart ? "restart" : "change"} it.
        {" "}
        <a href="#/apply">Apply…</a>
      </>
    );
  }
  if (plan.unchanged.includes(name)) return <span class="is-running">✓ It is as in the file.</span>;
  return <>It is not in the file that was applied last.</>;
}

function changeOf(name: string, { changes }: ConfigReloadResult) {
  return changes.find((change) => change.name === baseName(name));
}
