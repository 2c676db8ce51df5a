/** The webhooks and their deliveries. */

import { useEffect } from "preact/hooks";
import { happened } from "../data/event_history.ts";
import { type Polled, usePolled } from "../data/polled.ts";
import { linkTo } from "../data/router.ts";
import { mayAdminister } from "../data/store.ts";
import type { WebhookJson } from "../data/types.ts";
import { plainLine } from "../logs/ansi.ts";
import { Button, Empty, Loading } from "../controls/controls.tsx";
import { openedWebhook, WebhookDialog } from "./webhook_dialog.tsx";
import { WebhookRow } from "./webhook_row.tsx";

const REFRESH_MS = 3000;

const EXAMPLE = "webhooks: { ops: { url: https://hooks.example.com/procsup } }";

export function Webhooks() {
  const webhooks = usePolled<readonly WebhookJson[]>("/webhooks", REFRESH_MS);
  useEffect(() => void webhooks.reload(), [happened.value]);
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
      {webhooks.error.value && <p class="bad" role="alert">{webhooks.error}</p>}
      <List webhooks={webhooks} />
    </>
  );
}

function List(
  { webhooks: { data, error, reload } }: { readonly webhooks: Polled<readonly WebhookJson[]> },
) {
  if (data.value === undefined) return error.value ? null : <Loading />;
  if (data.value.length === 0) return <Nobody />;
  return (
    <>
      <div class="table-frame">
        <table class="stacked webhooks">
          <caption class="unseen">Webhooks</caption>
          <thead>
            <tr>
              <th scope="col" class="name">Name</th>
              <th scope="col">Told of</th>
              <th scope="col">Last attempt</th>
              <th scope="col" class="number">Waiting</th>
              <th scope="col" class="number">Delivered</th>
              <th scope="col" class="number">Given up</th>
              <th scope="col" class="number">Dropped</th>
              <td />
            </tr>
          </thead>
          <tbody>
            {data.value.map((webhook) => (
              <WebhookRow key={webhook.name} webhook={webhook} reload={reload} />
            ))}
          </tbody>
        </table>
      </div>
      <p class="faint small">
        Counted since the daemon started; tests are not. What is dropped had to make room for newer
        ones. On the command line: <code>procsup webhook</code>
      </p>
    </>
  );
}

function Nobody() {
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
      <h3>Webhooks that failed</h3>
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
