/** How programs talk to the daemon. */

import { copyText } from "../data/copy.ts";
import { Button } from "./button.tsx";

/** Lines to copy. */
export function Snippets({ home }: { home: string }) {
  const { origin } = location;
  const token = `Authorization: Bearer $(cat ${home}/token)`;
  const snippets: readonly (readonly [string, string, string?])[] = [
    ["REST", `curl -H "${token}" ${origin}/api/v1/processes`],
    ["MCP for agents", "procsup mcp"],
    ["A look at everything that could be wrong", "procsup doctor"],
    ["OpenAPI", `${origin}/openapi.json`, "/openapi.json"],
    ["Prometheus", `${origin}/metrics`, "/metrics"],
  ];
  return (
    <section class="panel">
      <h2>For programs and terminals</h2>
      <dl class="snippets">
        {snippets.map(([title, text, href]) => (
          <div key={title}>
            <dt>{title}</dt>
            <dd class="row between">
              {href ? <a href={href}>{text}</a> : <code>{text}</code>}
              <Button
                icon="copy"
                kind="quiet"
                label={`Copy: ${title}`}
                onClick={() => void copyText(text)}
              />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
