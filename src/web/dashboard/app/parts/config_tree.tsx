/** A configuration, read only. */

import { copyText } from "../data/copy.ts";
import { Button } from "./button.tsx";

/** Every key with its value. Values of the environment never leave the daemon. */
export function ConfigTree({ config }: { config: Readonly<Record<string, unknown>> }) {
  return (
    <>
      <div class="row between">
        <p class="faint small">
          As it is in force, defaults included. Values of the environment are masked.
        </p>
        <Button icon="copy" onClick={() => void copyText(JSON.stringify(config, null, 2))}>
          Copy as JSON
        </Button>
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
