/** The form of a webhook. */

import { signal, useSignal } from "@preact/signals";
import { WEBHOOK_EVENTS, WEBHOOK_FORMATS } from "../../../../model/webhook.ts";
import { ask, messageOf } from "../data/api.ts";
import { linesOf } from "../data/format.ts";
import { toast } from "../shell/notices.ts";
import type { WebhookJson } from "../data/types.ts";
import { FormDialog, Select } from "../controls/controls.tsx";
import { Field } from "../controls/field.tsx";

type Format = WebhookJson["format"];

/** The webhook whose form is open; `new` for a new one. */
export const openedWebhook = signal<WebhookJson | "new" | undefined>(undefined);

/** Example address and host name of each service. */
const PRESETS: Readonly<Record<Format, readonly [example: string, host: RegExp]>> = {
  standard: ["https://hooks.example.com/procsup", /^$/],
  slack: ["https://hooks.slack.com/services/…", /^hooks\.slack\.com$/],
  discord: ["https://discord.com/api/webhooks/…", /^(.+\.)?discord(app)?\.com$/],
  teams: [
    "https://….logic.azure.com/workflows/…",
    /\.(logic\.azure|webhook\.office|powerplatform)\.com$/,
  ],
};

export function WebhookDialog({ reload }: { readonly reload: () => Promise<void> }) {
  const opened = openedWebhook.value;
  if (opened === undefined) return null;
  const old = opened === "new" ? undefined : opened;
  return <Form key={old?.name} old={old} reload={reload} />;
}

function Form({ old, reload }: {
  readonly old: WebhookJson | undefined;
  readonly reload: () => Promise<void>;
}) {
  const name = useSignal(old?.name ?? "");
  const url = useSignal("");
  const secret = useSignal("");
  const targets = old?.only.join("\n") ?? "all";
  const only = useSignal(targets);
  const chosen = useSignal<Format | undefined>(old?.format);
  const events = useSignal<readonly string[]>(old?.events ?? WEBHOOK_EVENTS);
  const error = useSignal("");
  const format = chosen.value ?? presetOf(url.value);
  const close = () => openedWebhook.value = undefined;
  const save = async () => {
    const body = {
      ...{ format, events: events.value },
      ...only.value !== targets && { only: linesOf(only.value) },
      ...url.value.trim() !== "" && { url: url.value.trim() },
      ...secret.value.trim() !== "" && { secret: { file: secret.value.trim() } },
    };
    try {
      await ask(`/webhooks/${encodeURIComponent(name.value)}`, { method: "PATCH", body });
      close();
      toast("done", `Saved ${name.value}`);
      await reload();
    } catch (reason) {
      error.value = messageOf(reason);
    }
  };
  const toggle = (event: string) =>
    events.value = WEBHOOK_EVENTS.filter((one) => (one === event) !== events.value.includes(one));
  return (
    <FormDialog
      title={old === undefined ? "New webhook" : `Change ${old.name}`}
      verb="Save"
      onSubmit={() => void save()}
      onClose={close}
    >
      {old === undefined && <Field name="webhook" label="Name" required value={name} />}
      <Field
        name="url"
        label="URL"
        required={old === undefined}
        value={url}
        placeholder={PRESETS[format][0]}
        hint={old === undefined ? "" : `Leave empty to keep ${old.url}`}
      />
      <div class="field">
        <label for="field-format">Format</label>
        <Select
          id="field-format"
          value={format}
          options={WEBHOOK_FORMATS}
          onChoose={(format) => chosen.value = format}
        />
      </div>
      <fieldset class="row wrap">
        <legend>Events</legend>
        {WEBHOOK_EVENTS.map((event) => (
          <label key={event} class="row">
            <input
              type="checkbox"
              checked={events.value.includes(event)}
              onChange={() => toggle(event)}
            />
            {event}
          </label>
        ))}
      </fieldset>
      <Field
        name="only"
        label="Targets"
        value={only}
        rows={2}
        hint="One per line: all, names, ns:shop, tag:db"
      />
      {format === "standard" && (
        <Field
          name="secret"
          label="File with the secret"
          value={secret}
          hint="On the daemon's machine; signs what is sent"
        />
      )}
      {error.value && <p class="bad" role="alert">{error.value}</p>}
      <p class="faint small">
        A configuration file that has webhooks replaces all of them when it is applied.
      </p>
    </FormDialog>
  );
}

/** The format for the service of an address. */
function presetOf(url: string): Format {
  const host = URL.canParse(url) ? new URL(url).hostname : "";
  return WEBHOOK_FORMATS.find((format) => PRESETS[format][1].test(host)) ?? "standard";
}
