/** Questions that an action on a process needs answered: how many instances, which signal, which keys. */

import { signal, useSignal } from "@preact/signals";
import { run } from "../data/actions.ts";
import { processPath } from "../data/api.ts";
import { go } from "../data/router.ts";
import { baseName } from "../data/select.ts";
import { processList } from "../data/store.ts";
import { Button } from "./button.tsx";
import { ChangeDialog } from "./change_dialog.tsx";
import { Dialog } from "./dialog.tsx";

/** Which window is open, and about which process. */
export const processDialog = signal<
  { readonly kind: keyof typeof WINDOWS; readonly name: string } | undefined
>(undefined);

const SIGNALS = ["SIGHUP", "SIGINT", "SIGUSR1", "SIGUSR2", "SIGTERM", "SIGCONT", "SIGSTOP"];

/** The window, when one is open. */
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
  const now = processList.value.filter((process) => baseName(process.name) === base).length;
  const count = useSignal(now);
  const submit = (event: Event) => {
    event.preventDefault();
    onClose();
    const words = {
      doing: `Scaling ${base} to ${count.value}`,
      done: `${base} has ${count.value} now`,
    };
    void run(words, processPath(base, "scale"), {
      method: "POST",
      body: { instances: count.value },
    }).then((answer) => answer && go(["processes"], new URLSearchParams({ q: base })));
  };
  return (
    <Dialog title={`Scale ${base}`} onClose={onClose}>
      <form onSubmit={submit}>
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
        <div class="row end">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" submits>Scale</Button>
        </div>
      </form>
    </Dialog>
  );
}

function SignalDialog({ name, onClose }: WindowProps) {
  const chosen = useSignal(SIGNALS[0]!);
  const submit = (event: Event) => {
    event.preventDefault();
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
    <Dialog title={`Send a signal to ${name}`} onClose={onClose}>
      <form onSubmit={submit}>
        <label>
          Signal
          <select
            value={chosen.value}
            onChange={({ currentTarget }) => chosen.value = currentTarget.value}
          >
            {SIGNALS.map((signal) => <option key={signal}>{signal}</option>)}
          </select>
        </label>
        <div class="row end">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" submits>Send</Button>
        </div>
      </form>
    </Dialog>
  );
}
