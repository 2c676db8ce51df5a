/** Other values for some keys of a configuration, and others taken away: a JSON Merge Patch. */

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { ask, messageOf, processPath } from "../data/api.ts";
import { refreshSoon } from "../data/feed.ts";
import { announce, toast } from "../data/notices.ts";
import { baseName } from "../data/select.ts";
import type { ReconfigureResult } from "../data/types.ts";
import { readObject } from "../text/words.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Field } from "./field.tsx";

const EXAMPLE = '{ "max_memory": "1GB", "env": { "DEBUG": null } }';

/** The window; it stays open while something is wrong. */
export function ChangeDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const base = baseName(name);
  const text = useSignal("");
  const error = useSignal("");
  const isBusy = useSignal(false);
  // It may be closed before the answer comes, and another one be open.
  const isOpen = useRef(true);
  useEffect(() => () => void (isOpen.current = false), []);
  const submit = async (event: Event) => {
    event.preventDefault();
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
    <Dialog title={`Change ${base}`} onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
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
          What is not named stays as it is, null takes a key away. Where a key asks for it, all
          instances are reloaded, one by one. Its file, when applied again, has the last word.
        </p>
        <div class="row end">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" submits disabled={isBusy.value}>
            {isBusy.value ? "Changing…" : "Change"}
          </Button>
        </div>
      </form>
    </Dialog>
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
    ? `${base} is like that already`
    : `Changed ${fields} of ${base}${restarted ? " and reloaded it" : ""}`;
  toast("done", text);
  announce(text);
}
