/** Dialogs to scale, signal and change a process. */

import { baseName } from "../../../../model/name.ts";
import { signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { run } from "./actions.ts";
import { ask, messageOf, processPath } from "../data/api.ts";
import { refreshSoon } from "../data/feed.ts";
import { announce, toast } from "../shell/notices.ts";
import { go } from "../data/router.ts";
import { processesOf } from "../data/store.ts";
import type { ReconfigureResult } from "../data/types.ts";
import { FormDialog, Select } from "../controls/controls.tsx";
import { Field } from "../controls/field.tsx";
import { readObject } from "../data/format.ts";

export const processDialog = signal<
  { readonly kind: keyof typeof WINDOWS; readonly name: string } | undefined
>(undefined);

const SIGNALS = ["SIGHUP", "SIGINT", "SIGUSR1", "SIGUSR2", "SIGTERM", "SIGCONT", "SIGSTOP"];

export function ProcessDialogs() {
  const open = processDialog.value;
  if (open === undefined) return null;
  const Window = WINDOWS[open.kind];
  return <Window name={open.name} onClose={() => processDialog.value = undefined} />;
}

const WINDOWS = { scale: ScaleDialog, signal: SignalDialog, change: ChangeDialog };

interface WindowProps {
  readonly name: string;
  readonly onClose: () => void;
}

function ScaleDialog({ name, onClose }: WindowProps) {
  const base = baseName(name);
  const now = processesOf(base).length;
  const count = useSignal(now);
  const submit = () => {
    onClose();
    const words = {
      doing: `Scaling ${base} to ${count.value}`,
      done: `${base} has ${count.value} now`,
    };
    void run(words, processPath(base, "scale"), {
      method: "POST",
      body: { instances: count.value },
    }).then((answer) => answer && go(["processes", base]));
  };
  return (
    <FormDialog title={`Scale ${base}`} verb="Scale" onSubmit={submit} onClose={onClose}>
      <label>
        Instances
        <input
          type="number"
          min={1}
          max={1024}
          required
          value={count.value}
          onInput={({ currentTarget }) => count.value = currentTarget.valueAsNumber}
        />
      </label>
      <p class="faint small">There {now === 1 ? "is 1" : `are ${now}`} now.</p>
    </FormDialog>
  );
}

function SignalDialog({ name, onClose }: WindowProps) {
  const chosen = useSignal(SIGNALS[0]!);
  const submit = () => {
    onClose();
    const words = {
      doing: `Sending ${chosen.value} to ${name}`,
      done: `Sent ${chosen.value} to ${name}`,
    };
    void run(words, processPath(name, "signal"), {
      method: "POST",
      body: { signal: chosen.value },
    });
  };
  return (
    <FormDialog title={`Send a signal to ${name}`} verb="Send" onSubmit={submit} onClose={onClose}>
      <label>
        Signal
        <Select
          value={chosen.value}
          options={SIGNALS}
          onChoose={(signal) =>
            chosen.value = signal}
        />
      </label>
    </FormDialog>
  );
}

const EXAMPLE = '{ "max_memory": "1GB", "env": { "DEBUG": null } }';

/** Changes keys of the configuration. Stays open after an error. */
function ChangeDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const base = baseName(name);
  const text = useSignal("");
  const error = useSignal("");
  const isBusy = useSignal(false);
  // The dialog may close before the answer, and another one may open.
  const isOpen = useRef(true);
  useEffect(() => () => void (isOpen.current = false), []);
  const submit = async () => {
    isBusy.value = true;
    error.value = "";
    try {
      tell(base, await change(base, text.value));
      if (isOpen.current) onClose();
    } catch (reason) {
      if (isOpen.current) error.value = messageOf(reason);
      else toast("failed", `Changing ${base} failed`, { detail: messageOf(reason) });
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <FormDialog
      title={`Change ${base}`}
      verb={isBusy.value ? "Changing…" : "Change"}
      isBusy={isBusy.value}
      onSubmit={() => void submit()}
      onClose={onClose}
    >
      <Field
        name="keys"
        label="Keys to change, as JSON"
        rows={5}
        required
        value={text}
        placeholder={EXAMPLE}
        error={error.value || undefined}
      />
      <p class="faint small">
        Other keys stay unchanged; null removes a key. If a key needs it, all instances are
        reloaded, one by one. Applying the file again overrides these changes.
      </p>
    </FormDialog>
  );
}

async function change(base: string, text: string): Promise<ReconfigureResult> {
  const body = readObject("keys", text);
  const result = await ask<ReconfigureResult>(processPath(base), { method: "PATCH", body });
  refreshSoon();
  return result;
}

function tell(base: string, { changes, restarted }: ReconfigureResult): void {
  const fields = changes.map(({ field }) => field).join(", ");
  const text = fields === ""
    ? `${base} has this configuration already`
    : `Changed ${fields} of ${base}${restarted ? " and reloaded it" : ""}`;
  toast("done", text);
  announce(text);
}
