/** How keys of a configuration change. */

import type { ConfigReloadResult } from "../data/types.ts";

type Fields = ConfigReloadResult["changes"][number]["fields"];

/** Before and after, a line each. Values of secrets are not told. */
export function FieldDiff({ fields }: { fields: Fields }) {
  return (
    <ul class="diff">
      {fields.map(({ field, from, to }) => (
        <li key={field}>
          <code class="diff-field">{field}</code>
          {from === undefined && to === undefined ? <span class="faint">changes</span> : (
            <span>
              {from !== undefined && (
                <del>
                  <span class="unseen">from</span> <code>{textOf(from)}</code>
                </del>
              )} {to !== undefined && (
                <ins>
                  <span class="unseen">to</span> <code>{textOf(to)}</code>
                </ins>
              )}
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
