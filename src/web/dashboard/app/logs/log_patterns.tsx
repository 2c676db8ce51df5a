/** Lines that differ only in numbers and ids, grouped: how often, when and by which apps. */

import type { Output } from "../../../../protocol/wire.ts";
import { Age, Answer, Table } from "../controls/controls.tsx";
import { clockTime, counted } from "../data/format.ts";
import { usePolled } from "../data/polled.ts";
import { linkTo, range } from "../data/router.ts";
import { SPANS } from "../data/time_range.ts";
import { plainLine } from "./ansi.ts";
import { linesIn, type LogQuery, markOf, similarTo } from "./log_query.ts";

type Found = Output<"search_logs">;

/** A range that ends now is searched this many times while it passes. */
const STEPS = 60;

interface PatternsProps {
  readonly query: LogQuery;
  readonly onQuery: (query: LogQuery) => void;
  /** The address of the log around a line. */
  readonly lineLink: (mark: string, at: number) => string;
}

export function LogPatterns(props: PatternsProps) {
  const { span } = range.value;
  const found = usePolled(
    "search_logs",
    { ...linesIn(props.query, range.value), group_similar: true },
    span === undefined ? Infinity : SPANS[span][1] / STEPS,
  );
  return <Answer of={found}>{(answer) => <Patterns {...props} answer={answer} />}</Answer>;
}

function Patterns({ answer, query, onQuery, lineLink }: PatternsProps & { answer: Found }) {
  const { patterns = [], truncated, searched_since: since } = answer;
  const total = patterns.reduce((sum, { count }) => sum + count, 0);
  return (
    <>
      <p class="faint small" role="status">
        {counted(total, "line")} in {counted(patterns.length, "group")}
        {since !== undefined &&
          `, from ${clockTime(Date.parse(since))} on: before, there are too many`}
        {since === undefined && truncated && ", the most frequent"}
      </p>
      <Table
        caption="Grouped lines"
        kind="stacked patterns"
        headings={[["Count", "number"], "Line", "First", "Last", "Apps"]}
      >
        <tbody>
          {patterns.map(({ name, stream, end, line, count, first_at, at, level, apps }) => (
            <tr key={`${name} ${stream} ${end}`}>
              <td class="number" data-label="Count">×{count.toLocaleString("en")}</td>
              <td data-label="Line">
                <button
                  type="button"
                  class={`text-button level-${level ?? "none"}`}
                  title="Show these lines"
                  onClick={() =>
                    onQuery({ ...query, ...similarTo(line) })}
                >
                  <code class="pattern">{plainLine(line)}</code>
                </button>
              </td>
              <td class="moment" data-label="First">
                <Age at={first_at} />
              </td>
              <td class="moment" data-label="Last">
                <a href={lineLink(markOf({ name, stream, end }), Date.parse(at))}>
                  <Age at={at} />
                </a>
              </td>
              <td data-label="Apps">
                {apps.map((app) => (
                  <a key={app} class="label" href={linkTo(["processes", app], "tab=logs")}>{app}</a>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </Table>
    </>
  );
}
