/** A line in full: its stack trace, its JSON fields, and links to it. */

import { useSignal } from "@preact/signals";
import { jsonFields, levelOf } from "../../../../model/log_level.ts";
import { literally } from "../../../../model/plain_text.ts";
import { Button, CopyButton } from "../controls/controls.tsx";
import { messageOf } from "../data/api.ts";
import { bytes, dateTime } from "../data/format.ts";
import { linkTo, range } from "../data/router.ts";
import { lookingAt, type Range, rangeText } from "../data/time_range.ts";
import { toast } from "../shell/notices.ts";
import { plainLine } from "./ansi.ts";
import { type LogRow, shownLine } from "./log_lines.ts";
import { type LogQuery, markOf, NO_QUERY, SEARCH, writeLogQuery } from "./log_query.ts";
import { wholeLine } from "./open_log.ts";

export interface LineDetailsProps {
  readonly line: LogRow;
  readonly query: LogQuery;
  readonly onQuery: (query: LogQuery) => void;
  readonly linkOf: (query: LogQuery, range: Range) => string;
  readonly onClose: () => void;
}

export function LineDetails({ line, query, onQuery, linkOf, onClose }: LineDetailsProps) {
  const read = useSignal<{ readonly of: LogRow; readonly text: string } | undefined>(undefined);
  const loaded = read.value?.of === line ? read.value.text : undefined;
  const plain = plainLine(loaded ?? line.text);
  const fields = jsonFields(plain);
  const { trace } = shownLine({ ...line, text: plain }, { isTimed: false, isRaw: false });
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
          {line.start !== undefined && loaded === undefined && (
            <Button onClick={() => readWhole(line, (text) => read.value = { of: line, text })}>
              Show {bytes(line.end - line.start)}
            </Button>
          )}
          {isNarrowed(query) && (
            <a class="button" href={linkOf(around(line, query), momentOf(line))}>Show in context</a>
          )}
          <CopyButton label="Copy the line" text={whole} />
          <CopyButton label="Copy a link to this line" text={permalink(line, query)} icon="link" />
          <Button icon="close" kind="quiet" label="Close" onClick={onClose} />
        </span>
      </div>
      {unfolded !== "" && <pre tabIndex={0}>{unfolded}</pre>}
      {fields !== undefined && (
        <dl class="facts fields" tabIndex={0}>
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

async function readWhole(line: LogRow, take: (text: string) => void): Promise<void> {
  try {
    take(await wholeLine(line, new AbortController().signal));
  } catch (error) {
    toast("failed", "Cannot read the line", { detail: messageOf(error) });
  }
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
  return { search: `${name}\\s*:\\s*${text}`, isRegex: true, ...SEARCH };
}

/** The log around a line, without filters. */
function around(line: LogRow, { targets, columns }: LogQuery): LogQuery {
  return {
    ...NO_QUERY,
    targets: targets.length === 0 ? [line.name] : targets,
    columns,
    mark: markOf(line),
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
