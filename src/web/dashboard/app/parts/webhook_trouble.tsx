/** Webhooks that cannot be reached: whoever counts on them is told nothing. */

import { usePolled } from "../data/polled.ts";
import { linkTo } from "../data/router.ts";
import type { WebhookJson } from "../data/types.ts";
import { plainLine } from "../text/ansi.ts";

const EVERY_MS = 15_000;

/** A line for each; nothing while all go well, or there are none. */
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
