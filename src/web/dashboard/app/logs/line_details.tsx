/** Details of a line: its JSON fields, and a permalink. */

import { copyText } from "../shell/notices.ts";
import { type LogRow, shownLine } from "./log_lines.ts";
import { fingerprint, type LogQuery, NO_QUERY, writeLogQuery } from "./log_query.ts";
import { linkTo, range } from "../data/router.ts";
import { lookingAt, type Range, rangeText } from "../data/time_range.ts";
import { Button } from "../controls/controls.tsx";
import { plainLine } from "./ansi.ts";
import { dateTime } from "../data/format.ts";
import { jsonFields, levelOf } from "../../../../model/log_level.ts";
import { literally } from "../../../../model/plain_text.ts";

export function LineDetails(
  { line, query, onQuery, linkOf, onClose }: {
    readonly line: LogRow;
    readonly query: LogQuery;
    readonly onQuery: (query: LogQuery) => void;
    readonly linkOf: (query: LogQuery, range: Range) => string;
    readonly onClose: () => void;
  },
) {
  const plain = plainLine(line.text);
  const fields = jsonFields(plain);
  const { trace } = shownLine(line, { isTimed: false, isRaw: false });
  const whole = [plain, ...(line.trace ?? []).map(plainLine)].join("\n");
  const unfolded = fields === undefined ? whole : trace.map(plainLine).join("\n");
  return (
    <section class="line-details" aria-label="The line in full">
      <div class="row between">
        <p class="small">
          <strong>{line.name}</strong> · {line.stream} · {dateTime(line.at)} ·{" "}
          {levelOf(plain) ?? "no level"}
        </p>
        <span class="row">
          {isNarrowed(query) && (
            <a class="button" href={linkOf(around(line, query), momentOf(line))}>Show in context</a>
          )}
          <Button
            icon="copy"
            kind="quiet"
            label="Copy the line"
            onClick={() => void copyText(whole)}
          />
          <Button
            icon="link"
            kind="quiet"
            label="Copy a link to this line"
            onClick={() => void copyText(permalink(line, query))}
          />
          <Button icon="close" kind="quiet" label="Close" onClick={onClose} />
        </span>
      </div>
      {unfolded !== "" && <pre tabIndex={0}>{unfolded}</pre>}
      {fields !== undefined && (
        <dl class="fields" tabIndex={0}>
          {Object.entries(fields).map(([key, value]) => (
            <div key={key}>
              <dt>
                <button
                  type="button"
                  class="chip"
                  title="Search for lines with the same"
                  onClick={() => onQuery({ ...query, ...sameField(key, value) })}
                >
                  {key}
                </button>
              </dt>
              <dd>
                {typeof value === "string"
                  ? value.split("\n").map(plainLine).join("\n")
                  : JSON.stringify(value, null, 2)}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}

/** True if filters hide neighbouring lines. */
function isNarrowed({ search, level, stream }: LogQuery): boolean {
  return range.value.at === 0 && (search !== "" || level !== "" || stream !== "");
}

/** Searches lines with the same field value. For an object or list, lines with the field. */
function sameField(key: string, value: unknown): Partial<LogQuery> {
  const name = literally(JSON.stringify(key));
  const isPlain = typeof value !== "object" || value === null;
  const text = isPlain ? literally(JSON.stringify(value)) : "";
  return { search: `${name}\\s*:\\s*${text}`, isRegex: true, onlyMatches: true };
}

/** The log around a line, without filters. */
function around({ name, stream, text }: LogRow, { targets, columns }: LogQuery): LogQuery {
  return {
    ...NO_QUERY,
    targets: targets.length === 0 ? [name] : targets,
    columns,
    mark: fingerprint(name, stream, text),
  };
}

function momentOf({ at }: LogRow): Range {
  return lookingAt(at, range.value);
}

function permalink(line: LogRow, query: LogQuery): string {
  const params = writeLogQuery(around(line, query));
  const link = linkTo(["logs"], `${params}&${rangeText(momentOf(line))}`);
  return new URL(link, location.href).href;
}
