/** The webhooks, their deliveries, and the form of one. */

import { signal, useSignal } from "@preact/signals";
import { WEBHOOK_EVENTS, WEBHOOK_FORMATS } from "../../../../model/webhook.ts";
import { Age, Answer, Button, Empty, Field, Select, Table } from "../controls/controls.tsx";
import { FormDialog } from "../controls/dialogs.tsx";
import { call, messageOf } from "../data/api.ts";
import { linesOf } from "../data/format.ts";
import { happened } from "../data/store.ts";
import { usePolled } from "../data/polled.ts";
import { linkTo } from "../data/router.ts";
import { mayAdminister } from "../data/store.ts";
import type { WebhookJson } from "../../../../protocol/wire.ts";
import { plainLine } from "../logs/ansi.ts";
import { run } from "../process/actions.ts";
import { announce, confirmed, toast } from "../shell/notices.ts";

const REFRESH_MS = 3000;

const EXAMPLE = "webhooks: { ops: { url: https://hooks.example.com/procsup } }";

export function Webhooks() {
  const webhooks = usePolled("webhook_list", undefined, REFRESH_MS, happened.value);
  return (
    <>
      <div class="page-head">
        <h1>
          Webhooks <span class="faint count">{webhooks.data.value?.length || ""}</span>
        </h1>
        {mayAdminister.value && (
          <Button icon="add" onClick={() => openedWebhook.value = "new"}>New webhook</Button>
        )}
      </div>
      <WebhookDialog reload={webhooks.reload} />
      <Answer of={webhooks}>{(list) => <List webhooks={list} reload={webhooks.reload} />}</Answer>
    </>
  );
}

/** The counts of a webhook, and whether one is a problem. */
const COUNTS = [
  ["Waiting", "queued", false],
  ["Delivered", "delivered", false],
  ["Given up", "failed", true],
  ["Dropped", "dropped", true],
] as const;
const HEADINGS = [
  ...[["Name", "name"] as const, "Events about", "Last attempt"],
  ...COUNTS.map(([text]) => [text, "number"] as const),
  "",
];

function List({ webhooks, reload }: {
  readonly webhooks: readonly WebhookJson[];
  readonly reload: () => Promise<void>;
}) {
  if (webhooks.length === 0) return <NoneYet />;
  return (
    <>
      <Table caption="Webhooks" kind="stacked webhooks" headings={HEADINGS}>
        <tbody>
          {webhooks.map((webhook) => (
            <WebhookRow key={webhook.name} webhook={webhook} reload={reload} />
          ))}
        </tbody>
      </Table>
      <p class="faint small">
        Counted since the daemon started, without tests. A full queue drops its oldest deliveries.
        On the command line: <code>procsup webhook</code>
      </p>
    </>
  );
}

function NoneYet() {
  return (
    <Empty title="No webhooks yet">
      A webhook gets a message when an app crashes, is given up, is unhealthy, or has recovered, or
      a release failed: in{" "}
      the format of Slack, Discord, Teams or Standard Webhooks. In procsup.yaml:{" "}
      <code>{EXAMPLE}</code>
    </Empty>
  );
}

const EVERY_MS = 15_000;

/** A line for each failing webhook; nothing if none fails. */
export function WebhookTrouble() {
  const { data } = usePolled("webhook_list", undefined, EVERY_MS);
  const failing = (data.value ?? []).filter(({ last }) => last?.ok === false);
  if (failing.length === 0) return null;
  return (
    <>
      <h3>Failed webhooks</h3>
      <ul class="needy">
        {failing.map(({ name, last }) => (
          <li key={name} class="row between">
            <a class="clip" href={linkTo(["settings", "webhooks"])}>{name}</a>
            <span class="small bad">✗ {plainLine(last!.error)}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

function WebhookRow({ webhook, reload }: {
  readonly webhook: WebhookJson;
  readonly reload: () => Promise<void>;
}) {
  const { name, url, format, events, only, signed } = webhook;
  return (
    <tr>
      <th scope="row" class="name">
        <div class="name-cell">
          <strong class="clip" title={name}>{name}</strong>
          <span class="labels">
            {format !== "standard" && <span class="label">{format}</span>}
            <span class="label">{signed ? "signed" : "not signed"}</span>
          </span>
        </div>
        <div class="faint small clip" title={url}>{url}</div>
      </th>
      <td class="events" data-label="Events about">
        {events.join(", ")}
        {!only.includes("all") && <div class="faint small">only {only.join(", ")}</div>}
      </td>
      <td class="attempt" data-label="Last attempt">
        <LastAttempt webhook={webhook} />
      </td>
      {COUNTS.map(([text, key, isBad]) => (
        <td key={key} class={`number${isBad && webhook[key] > 0 ? " some" : ""}`} data-label={text}>
          {webhook[key].toLocaleString("en")}
        </td>
      ))}
      <td class="actions">
        {mayAdminister.value && (
          <>
            <TestButton name={name} reload={reload} />
            <Button
              icon="file"
              kind="quiet"
              label={`Change ${name}`}
              onClick={() => openedWebhook.value = webhook}
            />
            <Button
              icon="delete"
              kind="quiet"
              label={`Delete ${name}`}
              onClick={() => void remove(name).then(reload)}
            />
          </>
        )}
      </td>
    </tr>
  );
}

function LastAttempt({ webhook: { last, queued } }: { webhook: WebhookJson }) {
  if (last === null) return <span class="faint">none yet</span>;
  return (
    <>
      <span class={last.ok ? "is-running" : "is-crashed"}>
        {last.ok ? `✓ answered ${last.status}` : `✗ ${plainLine(last.error)}`}
      </span>
      <div class="faint small">
        <Age at={last.at} />
        {!last.ok && queued > 0 && ", will be retried"}
      </div>
    </>
  );
}

function TestButton({ name, reload }: { name: string; reload: () => Promise<void> }) {
  const isBusy = useSignal(false);
  const test = async () => {
    isBusy.value = true;
    await sendTest(name);
    isBusy.value = false;
    await reload();
  };
  return (
    <Button label={`Send test to ${name}`} disabled={isBusy.value} onClick={() => void test()}>
      Send test
    </Button>
  );
}

/** Sends a test, in one attempt, and shows whether the receiver accepted it. */
async function sendTest(name: string): Promise<void> {
  const id = toast("busy", `Sending a test to ${name}…`);
  const failed = (detail: string) => {
    toast("failed", `${name} failed the test`, { id, detail });
    announce(`${name} failed the test: ${detail}`);
  };
  try {
    const [test] = await call("webhook_test", { name });
    const { ok, status, error } = test!;
    if (!ok) return failed(error);
    toast("done", `${name} passed the test: it answered ${status}`, { id });
    announce(`${name} passed the test`);
  } catch (error) {
    failed(messageOf(error));
  }
}

async function remove(name: string): Promise<void> {
  const text = "It gets no more messages; pending ones are dropped.";
  if (!await confirmed(`Delete ${name}?`, text, "Delete")) return;
  const words = { doing: `Deleting ${name}`, done: `Deleted ${name}` };
  await run(words, "webhook_delete", { name });
}

type Format = WebhookJson["format"];

/** The webhook whose form is open; `new` for a new one. */
const openedWebhook = signal<WebhookJson | "new" | undefined>(undefined);

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

function WebhookDialog({ reload }: { readonly reload: () => Promise<void> }) {
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
  const format = chosen.value ?? presetOf(url.value);
  const save = async () => {
    await call("webhook_set", {
      ...{ name: name.value, format, events: events.value },
      ...only.value !== targets && { only: linesOf(only.value) },
      ...url.value.trim() !== "" && { url: url.value.trim() },
      ...secret.value.trim() !== "" && { secret: { file: secret.value.trim() } },
    });
    toast("done", `Saved ${name.value}`);
    void reload();
  };
  const toggle = (event: string) =>
    events.value = WEBHOOK_EVENTS.filter((one) => (one === event) !== events.value.includes(one));
  return (
    <FormDialog
      title={old === undefined ? "New webhook" : `Change ${old.name}`}
      verb="Save"
      doing={`Saving ${name.value}`}
      onSubmit={save}
      onClose={() => openedWebhook.value = undefined}
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
