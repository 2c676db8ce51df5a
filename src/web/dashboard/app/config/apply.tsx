/** Applies a configuration: first the plan, then the changes. */

import { effect, type Signal, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Mistake } from "../../../../model/errors.ts";
import { loadAsset } from "../data/tab_key.ts";
import { ApiError, call, messageOf } from "../data/api.ts";
import { announce, toast } from "../shell/notices.ts";
import type { ConfigReloadPayload, ConfigReloadResult } from "../../../../protocol/wire.ts";
import { Button, Field } from "../controls/controls.tsx";
import { ConfigOutcome, ConfigPlan, workIn } from "./config_plan.tsx";
import { counted } from "../data/format.ts";

/** The input. It is kept while other pages are open. */
const draft = {
  /** True to apply the text, false to apply a file on the machine. */
  isText: signal(true),
  text: signal(""),
  /** Name of the text as a file. Its extension sets the format. */
  name: signal("procsup.yaml"),
  /** Base of relative paths in the text. */
  folder: signal("/"),
  /** A file on the machine; empty for the last applied one. */
  path: signal(""),
  /** True to delete apps that were removed from the file. */
  prune: signal(false),
};

const progress = signal<"idle" | "planning" | "applying">("idle");
/** The planned changes; undefined until planned, and after the input changed. */
const plan = signal<ConfigReloadResult | undefined>(undefined);
const outcome = signal<ConfigReloadResult | undefined>(undefined);
/** Errors, one per line. */
const problem = signal("");

/** Mistakes in the text, which the editor marks. */
const mistakes = signal<readonly Mistake[]>([]);

/** Discards the plan and the results. Call it after a change of the input. */
function touched(): void {
  plan.value = undefined;
  outcome.value = undefined;
  problem.value = "";
  mistakes.value = [];
}

async function makePlan(): Promise<void> {
  touched();
  progress.value = "planning";
  const payload = payloadOf(true);
  const answer = await request(payload);
  progress.value = "idle";
  // The input may have changed meanwhile.
  if (JSON.stringify(payload) === JSON.stringify(payloadOf(true))) show(answer, plan);
}

/** Applies the configuration and waits until everything has started. */
async function applyPlan(): Promise<void> {
  progress.value = "applying";
  problem.value = "";
  const id = toast("busy", "Applying the configuration…");
  const answer = await request(payloadOf(false));
  progress.value = "idle";
  if (typeof answer !== "string" && answer.status === "reloaded") {
    toast("done", "The configuration is applied", { id });
    announce("The configuration is applied");
  } else {
    toast("failed", "Some changes could not be applied", { id });
    announce("Applying failed");
  }
  if (show(answer, outcome)) plan.value = undefined;
}

/** Shows an answer, or the problem. Returns false for a problem. */
function show(
  answer: ConfigReloadResult | string,
  shown: Signal<ConfigReloadResult | undefined>,
): boolean {
  if (typeof answer === "string") problem.value = answer;
  else shown.value = answer;
  return typeof answer !== "string";
}

/** The answer, or the problem in words. */
async function request(payload: ConfigReloadPayload): Promise<ConfigReloadResult | string> {
  try {
    return await call("config_reload", payload);
  } catch (error) {
    if (error instanceof ApiError) mistakes.value = error.mistakes;
    const taken = error instanceof ApiError && error.code === "name_taken";
    // Two files that define the same process would undo each other's changes.
    const advice = taken ? "\nChange that file and apply it from there, or use another name." : "";
    return messageOf(error) + advice;
  }
}

function payloadOf(isDry: boolean): ConfigReloadPayload {
  const { isText, text, name, folder, path, prune } = draft;
  const common = isDry ? { dry_run: true } : { wait: true };
  if (isText.value) {
    const file = `${folder.value.trim().replace(/\/*$/, "")}/${name.value.trim()}`;
    return { ...common, content: { file, text: text.value } };
  }
  const chosen = path.value.trim() === "" ? {} : { config_path: path.value.trim() };
  return { ...common, ...chosen, prune: prune.value };
}

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
          <ConfigPlan plan={known} isApplying={progress.value === "applying"} />
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
      {outcome.value && <ConfigOutcome done={outcome.value} />}
      {known === undefined && outcome.value === undefined && <Hint />}
    </div>
  );
}

function Hint() {
  return (
    <section class="panel">
      <h2>The plan shows</h2>
      <ul class="plan">
        <li class="plan-added">
          <span class="plan-sign" aria-hidden="true">+</span> apps that are added and started
        </li>
        <li class="plan-changed">
          <span class="plan-sign" aria-hidden="true">~</span>{" "}
          apps that change: which keys, and whether they restart
        </li>
        <li class="plan-removed">
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

/** The editor takes the place of the text field, which stays if the editor cannot be loaded. */
function useEditor(): void {
  useEffect(() => {
    const over = new AbortController();
    const open = async () => {
      const { openEditor } = await loadAsset<typeof import("./editor.ts")>("editor");
      if (over.signal.aborted) return;
      const field = document.getElementById("field-config");
      const editor = await openEditor(field as HTMLTextAreaElement);
      if (over.signal.aborted) return;
      const stop = effect(() => editor.show(draft.text.value, draft.name.value, mistakes.value));
      over.signal.addEventListener("abort", stop);
    };
    open().catch(() => {});
    return () => over.abort();
  }, []);
}

function TextFields() {
  useEditor();
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
