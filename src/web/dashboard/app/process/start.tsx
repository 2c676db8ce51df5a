/** The form of a new process. */

import { signal, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { ApiError, messageOf } from "../data/api.ts";
import { toast } from "../shell/notices.ts";
import { go, linkTo, screen } from "../data/router.ts";
import { addAndWait } from "./actions.ts";
import type { ProcessJson } from "../../../../protocol/wire.ts";
import { Button, Trail } from "../controls/controls.tsx";
import { configOf, fieldOf } from "./key_form.ts";
import { GROUPS, KeyGroup, type KeyTexts } from "./key_group.tsx";

const KEYS = [...GROUPS.values()].flat();
const PATHS = KEYS.map(({ path }) => path);

/** Error codes after which the process exists. */
const STARTED = new Set(["start_failed", "timeout"]);

export function Start() {
  const values: KeyTexts = useMemo(() => new Map(KEYS.map((key) => [key, signal("")])), []);
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
          <KeyGroup
            key={name}
            {...{ name, keys, values, wrong }}
            error={error}
            isOpen={index === 0}
          />
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
