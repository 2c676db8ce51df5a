/** Applies a configuration: first the plan, then the changes. */

import type { Signal } from "@preact/signals";
import { messageOf } from "../data/api.ts";
import {
  applyPlan,
  draft,
  makePlan,
  outcome,
  plan,
  problem,
  progress,
  touched,
} from "./config_apply.ts";
import { Button } from "../controls/controls.tsx";
import { ConfigOutcome, ConfigPlan, workIn } from "./config_plan.tsx";
import { Field } from "../controls/field.tsx";
import { counted } from "../data/format.ts";

export function Apply() {
  const isText = draft.isText.value;
  const submit = (event: Event) => {
    event.preventDefault();
    void makePlan();
  };
  return (
    <>
      <div>
        <h1>Apply a configuration</h1>
        <p class="faint">You see the plan before anything changes.</p>
      </div>
      <div class="two">
        <form class="panel apply-form" onSubmit={submit}>
          <div class="chips" role="group" aria-label="Where it comes from">
            <Source isText text="Paste or upload" />
            <Source isText={false} text="A file on the machine" />
          </div>
          {isText ? <TextFields /> : <PathFields />}
          {problem.value && <pre class="problem" role="alert">{problem}</pre>}
          <div class="row end">
            <Button kind={plan.value ? "plain" : "primary"} submits disabled={isBusy()}>
              {progress.value === "planning" ? "Planning…" : "Show the plan"}
            </Button>
          </div>
        </form>
        <Result />
      </div>
    </>
  );
}

function isBusy(): boolean {
  return progress.value !== "idle";
}

function Result() {
  const known = plan.value;
  const work = known === undefined ? 0 : workIn(known);
  return (
    <div class="stack" aria-live="polite">
      {known && (
        <section class="panel" aria-labelledby="plan">
          <h2 id="plan">Plan</h2>
          <ConfigPlan plan={known} />
          <div class="row end">
            <Button onClick={touched}>Discard</Button>
            <Button
              kind="primary"
              disabled={work === 0 || isBusy()}
              onClick={() => void applyPlan()}
            >
              {progress.value === "applying"
                ? "Applying…"
                : work === 0
                ? "Nothing to do"
                : `Apply ${counted(work, "change")}`}
            </Button>
          </div>
        </section>
      )}
      <ConfigOutcome />
      {known === undefined && outcome.value === undefined && <Hint />}
    </div>
  );
}

function Hint() {
  return (
    <section class="panel">
      <h2>The plan shows</h2>
      <ul class="plan">
        <li class="plan-add">
          <span class="plan-sign" aria-hidden="true">+</span> apps that are added and started
        </li>
        <li class="plan-change">
          <span class="plan-sign" aria-hidden="true">~</span>{" "}
          apps that change: which keys, and whether they restart
        </li>
        <li class="plan-remove">
          <span class="plan-sign" aria-hidden="true">−</span>{" "}
          apps that are deleted, if you asked for that
        </li>
      </ul>
    </section>
  );
}

const MAX_BYTES = 900_000;

const EXAMPLE = `processes:
  api:
    entrypoint: server.ts
    cwd: /srv/api
    instances: 2`;

/** A choice of the configuration's source. */
function Source({ isText, text }: { isText: boolean; text: string }) {
  return (
    <button
      type="button"
      class="chip"
      aria-pressed={draft.isText.value === isText}
      onClick={() => (draft.isText.value = isText, touched())}
    >
      {text}
    </button>
  );
}

function TextFields() {
  const take = async (file: File | undefined) => {
    if (file === undefined) return;
    touched();
    if (file.size > MAX_BYTES) return void (problem.value = `${file.name} is too large`);
    try {
      draft.text.value = await file.text();
      draft.name.value = file.name;
    } catch (error) {
      problem.value = messageOf(error);
    }
  };
  return (
    <>
      <div
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => (event.preventDefault(), void take(event.dataTransfer?.files[0]))}
      >
        <Field
          name="config"
          label="Configuration"
          value={watched(draft.text)}
          rows={16}
          required
          placeholder={EXAMPLE}
          hint="Other apps stay unchanged. Drop a file here, or choose one:"
        />
        <input
          type="file"
          aria-label="Choose a file"
          accept=".yaml,.yml,.toml,.json,.jsonc,.conf,.ini,.procfile"
          onChange={({ currentTarget }) => void take(currentTarget.files?.[0])}
        />
      </div>
      <div class="form-grid">
        <Field
          name="file-name"
          label="File name"
          value={watched(draft.name)}
          required
          hint="It sets the format: .yaml, .toml, .json"
        />
        <Field
          name="folder"
          label="Folder"
          value={watched(draft.folder)}
          required
          hint="Relative paths start there"
        />
      </div>
    </>
  );
}

function PathFields() {
  return (
    <>
      <Field
        name="path"
        label="Path"
        value={watched(draft.path)}
        hint="Absolute: /srv/procsup.yaml. Empty: the last applied file"
      />
      <label class="row">
        <input
          type="checkbox"
          checked={draft.prune.value}
          onChange={({ currentTarget }) => (draft.prune.value = currentTarget.checked, touched())}
        />
        Delete apps that were removed from this file
      </label>
    </>
  );
}

/** Wraps a signal so that a change discards the plan. */
function watched(value: Signal<string>): Signal<string> {
  return {
    get value() {
      return value.value;
    },
    set value(text) {
      value.value = text;
      touched();
    },
  } as Signal<string>;
}
