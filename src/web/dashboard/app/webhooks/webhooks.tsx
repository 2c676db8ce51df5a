/** The webhooks and their deliveries. */

import { useSignal } from "@preact/signals";
import { Age, Answer, Button, Empty, Table } from "../controls/controls.tsx";
import { ask, messageOf } from "../data/api.ts";
import { happened } from "../data/past.ts";
import { usePolled } from "../data/polled.ts";
import { linkTo } from "../data/router.ts";
import { mayAdminister } from "../data/store.ts";
import type { WebhookJson, WebhookTestJson } from "../data/types.ts";
import { plainLine } from "../logs/ansi.ts";
import { run } from "../process/actions.ts";
import { announce, confirmed, toast } from "../shell/notices.ts";
import { openedWebhook, WebhookDialog } from "./webhook_dialog.tsx";

const REFRESH_MS = 3000;

const EXAMPLE = "webhooks: { ops: { url: https://hooks.example.com/procsup } }";

export function Webhooks() {
  const webhooks = usePolled<readonly WebhookJson[]>("/webhooks", REFRESH_MS, happened.value);
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

const COUNTS = ["Waiting", "Delivered", "Given up", "Dropped"];
const HEADINGS = [
  ...[["Name", "name"] as const, "Told of", "Last attempt"],
  ...COUNTS.map((text) => [text, "number"] as const),
  "",
];

function List({ webhooks, reload }: {
  readonly webhooks: readonly WebhookJson[];
  readonly reload: () => Promise<void>;
}) {
  if (webhooks.length === 0) return <NoneYet />;
  return (
    <>
      <div class="table-frame">
        <Table caption="Webhooks" kind="stacked webhooks" headings={HEADINGS}>
          <tbody>
            {webhooks.map((webhook) => (
              <WebhookRow key={webhook.name} webhook={webhook} reload={reload} />
            ))}
          </tbody>
        </Table>
      </div>
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
      A webhook gets a message when an app crashes, is given up, is unhealthy, or has recovered: in
      {" "}
      the format of Slack, Discord, Teams or Standard Webhooks. In procsup.yaml:{" "}
      <code>{EXAMPLE}</code>
    </Empty>
  );
}

const EVERY_MS = 15_000;

/** A line for each failing webhook; nothing if none fails. */
export function WebhookTrouble() {
  const { data } = usePolled<readonly WebhookJson[]>("/webhooks", EVERY_MS);
  const failing = (data.value ?? []).filter(({ last }) => last?.ok === false);
  if (failing.length === 0) return null;
  return (
    <>
      <h3>Failed webhooks</h3>
      <ul class="needy">
        {failing.map(({ name, last }) => (
          <li key={name} class="row between">
            <a class="clip" href={linkTo(["webhooks"])}>{name}</a>
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
  const { name, url, format, events, only, signed, queued, delivered, failed, dropped } = webhook;
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
      <td class="told" data-label="Told of">
        {events.join(", ")}
        {!only.includes("all") && <div class="faint small">only {only.join(", ")}</div>}
      </td>
      <td class="attempt" data-label="Last attempt">
        <LastAttempt webhook={webhook} />
      </td>
      <Count label="Waiting" count={queued} />
      <Count label="Delivered" count={delivered} />
      <Count label="Given up" count={failed} isBad />
      <Count label="Dropped" count={dropped} isBad />
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

function Count({ label, count, isBad = false }: {
  readonly label: string;
  readonly count: number;
  readonly isBad?: boolean;
}) {
  return (
    <td class={`number${isBad && count > 0 ? " some" : ""}`} data-label={label}>
      {count.toLocaleString("en")}
    </td>
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
    const path = `/webhooks/${encodeURIComponent(name)}/test`;
    const { ok, status, error } = await ask<WebhookTestJson>(path, { method: "POST" });
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
  await run(words, `/webhooks/${encodeURIComponent(name)}`, { method: "DELETE" });
}
