/** Where a configuration comes from: a text, or a file of the machine. */

import type { Signal } from "@preact/signals";
import { messageOf } from "../data/api.ts";
import { draft, problem, touched } from "../data/config_apply.ts";
import { Field } from "./field.tsx";

const MAX_BYTES = 900_000;

const EXAMPLE = `processes:
  api:
    entrypoint: server.ts
    cwd: /srv/api
    instances: 2`;

/** One of the places that it may come from. */
export function Source({ isText, text }: { isText: boolean; text: string }) {
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

/** For a text that is pasted or uploaded. */
export function TextFields() {
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
          hint="What is not in it stays as it is. Drop a file here, or choose one:"
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
          hint="Tells the format: .yaml, .toml, .json"
        />
        <Field
          name="folder"
          label="Folder"
          value={watched(draft.folder)}
          required
          hint="Relative paths begin there"
        />
      </div>
    </>
  );
}

/** For a file of the machine. */
export function PathFields() {
  return (
    <>
      <Field
        name="path"
        label="Path"
        value={watched(draft.path)}
        hint="Absolute: /srv/procsup.yaml. Empty: the file that was applied last"
      />
      <label class="row">
        <input
          type="checkbox"
          checked={draft.prune.value}
          onChange={({ currentTarget }) => (draft.prune.value = currentTarget.checked, touched())}
        />
        Delete what came from this file and is no longer in it
      </label>
    </>
  );
}

/** The signal, telling when somebody types. */
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
