/** One line in full: its fields when it is JSON, and a link to it. */

import { toast } from "../data/notices.ts";
import type { LogLine } from "../data/log_buffer.ts";
import { fingerprint, type LogQuery, NO_QUERY, writeLogQuery } from "../data/log_query.ts";
import { linkTo } from "../data/router.ts";
import { plainLine } from "../text/ansi.ts";
import { jsonFields, levelOf } from "../text/log_line.ts";
import { dateTime } from "../text/format.ts";
import { Button } from "./button.tsx";

/** A panel below the lines. */
export function LineDetails(
  { line, query, onClose }: {
    readonly line: LogLine;
    readonly query: LogQuery;
    readonly onClose: () => void;
  },
) {
  const plain = plainLine(line.text);
  const fields = jsonFields(plain);
  return (
    <section class="line-details" aria-label="The line in full">
      <div class="row between">
        <p class="small">
          <strong>{line.name}</strong> · {line.stream} · {dateTime(line.at)} ·{" "}
          {levelOf(plain) ?? "no level"}
        </p>
        <span class="row">
          <Button icon="copy" kind="quiet" label="Copy the line" onClick={() => copy(plain)} />
          <Button
            icon="link"
            kind="quiet"
            label="Copy a link to this line"
            onClick={() => copy(permalink(line, query))}
          />
          <Button icon="close" kind="quiet" label="Close" onClick={onClose} />
        </span>
      </div>
      {fields === undefined ? <pre tabIndex={0}>{plain}</pre> : (
        <dl class="fields">
          {Object.entries(fields).map(([key, value]) => (
            <div key={key}>
              <dt>{key}</dt>
              <dd>{typeof value === "string" ? value : JSON.stringify(value, null, 2)}</dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}

/** It opens the log around the line, with nothing hidden. */
function permalink({ name, stream, text, at }: LogLine, { targets }: LogQuery): string {
  const params = writeLogQuery({
    ...NO_QUERY,
    targets: targets.length === 0 ? [name] : targets,
    at,
    mark: fingerprint(name, stream, text),
  });
  return new URL(linkTo(["logs"], params), location.href).href;
}

async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast("done", "Copied");
  } catch {
    toast("failed", "This browser does not let the page copy");
  }
}
