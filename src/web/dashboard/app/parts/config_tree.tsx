/** A configuration, read only. */

import { toast } from "../data/notices.ts";
import { Button } from "./button.tsx";

/** Every key with its value. Values of the environment never leave the daemon. */
export function ConfigTree({ config }: { config: Readonly<Record<string, unknown>> }) {
  const copy = () =>
    navigator.clipboard.writeText(JSON.stringify(config, null, 2)).then(
      () => toast("done", "Copied"),
      () => toast("failed", "This browser does not let the page copy"),
    );
  return (
    <>
      <div class="row between">
        <p class="faint small">Values of the environment are masked.</p>
        <Button icon="copy" onClick={copy}>Copy as JSON</Button>
      </div>
      <dl class="config">
        {Object.entries(config).map(([key, value]) => (
          <div key={key}>
            <dt>{key}</dt>
            <dd>
              <Value value={value} />
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function Value({ value }: { value: unknown }) {
  if (Array.isArray(value) && value.every((item) => typeof item !== "object")) {
    return <>{value.map((item, index) => <code key={index} class="item">{String(item)}</code>)}</>;
  }
  if (typeof value !== "object" || value === null) return <code>{String(value)}</code>;
  return (
    <dl class="config inner">
      {Object.entries(value).map(([key, inner]) => (
        <div key={key}>
          <dt>{key}</dt>
          <dd>
            <Value value={inner} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
