/** The form of a new process. */

import { signal, useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { ApiError } from "../data/api.ts";
import { toast } from "../shell/notices.ts";
import { go, linkTo, screen } from "../data/router.ts";
import { addAndWait } from "./actions.ts";
import type { ProcessJson } from "../../../../protocol/wire.ts";
import { Button, Trail } from "../controls/controls.tsx";
import { configOf } from "./key_form.ts";
import { FORM_KEYS, KeyFields } from "./key_fields.tsx";

/** Error codes after which the process exists. */
const STARTED = new Set(["start_failed", "timeout"]);

export function Start() {
  const values = useMemo(() => new Map(FORM_KEYS.map((key) => [key, signal("")])), []);
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
  return (
    <>
      <Trail />
      <h1>New process</h1>
      <form class="panel start-form" onSubmit={submit}>
        <KeyFields values={values} refusal={refusal.value} />
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
