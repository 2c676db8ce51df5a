/** The table of processes: chosen columns, groups with totals. Only the rows in view are rendered. */

import { Component, type ComponentChildren, type FunctionComponent, h } from "preact";
import { useRef } from "preact/hooks";
import type { ProcessJson } from "../../../../protocol/wire.ts";
import { Icon } from "../controls/icons.tsx";
import { equalRows, rowsInView } from "../controls/row_layout.ts";
import { useView } from "../controls/windowed.ts";
import { useLastHour } from "../data/past.ts";
import { linkTo, setParams } from "../data/router.ts";
import { isPhone } from "../shell/settings.ts";
import { type Column, shownColumns } from "./process_columns.tsx";
import { GroupActions, RowActions } from "./process_menu.tsx";
import type { SortKey } from "./select.ts";
import type { Group, Order, Row } from "./table_layout.ts";

/** Heights of a row, as in table.css: in one line, and in two where the columns do not fit. */
const ROW_PX = { line: 26, stacked: 60 };
/** Up to this width a row takes two lines; up to the others it has fewer buttons, no small charts. */
const WIDTHS = { stacked: 576, fewButtons: 770, noCharts: 1000 };
const [TICK_PX, NAME_PX, CHART_PX] = [34, 126, 62];
const ACTIONS_PX = { all: 124, few: 40 };
/** Rows whose past is requested together: scrolling a little requests nothing. */
const BLOCK = 50;

interface ProcessTableProps extends Order {
  readonly rows: readonly Row[];
  readonly selected: ReadonlySet<string>;
  readonly onSelect: (ids: readonly string[]) => void;
}

export function ProcessTable(props: ProcessTableProps) {
  const { rows, selected, onSelect } = props;
  const frame = useRef<HTMLDivElement>(null);
  const view = useView(frame).value;
  const isStacked = isPhone.value || view.width <= WIDTHS.stacked;
  const layout = equalRows(rows.length, isStacked ? ROW_PX.stacked : ROW_PX.line);
  const [first, end] = rowsInView(layout, view);
  const columns = shownColumns.value;
  const isPlain = view.width <= WIDTHS.noCharts;
  const widths = columns.map(({ px, isChart }) => px - (isChart && isPlain ? CHART_PX : 0));
  const hasFewButtons = view.width <= WIDTHS.fewButtons;
  const actions = hasFewButtons ? ACTIONS_PX.few : ACTIONS_PX.all;
  const looks = [
    ...["processes", isStacked && "is-stacked", isPlain && "is-plain"],
    hasFewButtons && "has-few-buttons",
  ];
  const least = widths.reduce((sum, px) => sum + px, TICK_PX + NAME_PX + actions);
  return (
    <div class="table-frame windowed" ref={frame}>
      <table
        class={looks.filter(Boolean).join(" ")}
        aria-rowcount={rows.length + 1}
        style={isStacked ? undefined : { minWidth: `${least}px` }}
      >
        <caption class="unseen">Processes</caption>
        <colgroup>
          <col style={{ width: `${TICK_PX}px` }} />
          <col />
          {widths.map((px, index) => (
            <col
              key={columns[index]!.key}
              style={{ width: `${px}px` }}
            />
          ))}
          <col style={{ width: `${actions}px` }} />
        </colgroup>
        <Head {...props} columns={columns} />
        <tbody>
          <Space height={layout.top(first)} span={columns.length + 3} />
          {rows.slice(first, end).map((row, offset) => {
            const common = { columns, index: first + offset + 2, onSelect };
            if ("group" in row) {
              const count = row.group.members.filter(({ id }) => selected.has(id)).length;
              return (
                <GroupRow key={`group ${row.group.title}`} {...row} {...common} count={count} />
              );
            }
            const { id } = row.process;
            return <ProcessRow key={id} {...row} {...common} isSelected={selected.has(id)} />;
          })}
          <Space height={layout.height - layout.top(end)} span={columns.length + 3} />
        </tbody>
      </table>
      {columns.some(({ isOfHour }) => isOfHour) && (
        <LastHour
          names={namesIn(rows.slice(first - first % BLOCK, Math.ceil(end / BLOCK) * BLOCK))}
        />
      )}
    </div>
  );
}

function namesIn(rows: readonly Row[]): readonly string[] {
  return rows.flatMap((row) => "process" in row ? [row.process.name] : []);
}

function LastHour({ names }: { names: readonly string[] }) {
  useLastHour(names);
  return null;
}

/** The rows that are not rendered. */
function Space({ height, span }: { readonly height: number; readonly span: number }) {
  if (height <= 0) return null;
  return (
    <tr class="space" aria-hidden="true" style={{ height: `${height}px` }}>
      <td colSpan={span} />
    </tr>
  );
}

function Head(
  { rows, sort, descending, selected, onSelect, columns }: ProcessTableProps & {
    readonly columns: readonly Column[];
  },
) {
  const all = rows.flatMap((row) => "process" in row ? [row.process.id] : []);
  const headings: readonly Heading[] = [
    { key: "name", text: "Name", sort: "name", kind: "name" },
    ...columns,
  ];
  return (
    <thead>
      <tr>
        <td class="tick">
          <Tick
            label="Select all that are shown"
            count={all.filter((id) => selected.has(id)).length}
            of={all.length}
            onChange={() => onSelect(all)}
          />
        </td>
        {headings.map(({ key, text, title, kind, sort: by, isFigure = false }) => {
          if (by === undefined) {
            return <th key={key} scope="col" class={kind} title={title}>{text}</th>;
          }
          const order = sort !== by ? undefined : descending ? "descending" : "ascending";
          return (
            <th key={key} scope="col" class={kind} aria-sort={order} title={title}>
              <button type="button" class="sort" onClick={() => sortBy(by, isFigure, order)}>
                {text}
                {order && <Icon name={descending ? "down" : "up"} size={12} />}
              </button>
            </th>
          );
        })}
        <td class="actions" />
      </tr>
    </thead>
  );
}

type Heading = Pick<Column, "key" | "text" | "title" | "kind" | "sort" | "isFigure">;

/** Sorts figures in descending order first. The third click restores the order by numeric id. */
function sortBy(key: SortKey, isFigure: boolean, order: "descending" | "ascending" | undefined) {
  const [first, second] = isFigure ? ["desc", ""] : ["", "desc"];
  if (order === undefined) setParams({ sort: key, dir: first! });
  else if ((order === "descending") === isFigure) setParams({ dir: second! });
  else setParams({ sort: "", dir: "" });
}

interface RowProps {
  readonly columns: readonly Column[];
  /** Counted from 1 among all rows, including the head. */
  readonly index: number;
  readonly onSelect: (ids: readonly string[]) => void;
}

/** A row. Rendered again only if the process changed; figures update independently. */
const ProcessRow = memo(
  function ProcessRow({ process, columns, index, isSelected, onSelect }: RowProps & {
    readonly process: ProcessJson;
    readonly isSelected: boolean;
  }) {
    const { id, name, last_reason } = process;
    return (
      <tr class={isSelected ? "selected" : ""} data-row={name} aria-rowindex={index}>
        <td class="tick">
          <Tick
            label={`Select ${name}`}
            count={Number(isSelected)}
            onChange={() => onSelect([id])}
          />
        </td>
        <th scope="row" class="name">
          <div class="name-cell">
            <a class="clip" href={linkTo(["processes", name])} title={name}>{name}</a>
            <Labels process={process} />
          </div>
        </th>
        {columns.map(({ key, kind, Cell }) => (
          <td key={key} class={kind} title={key === "state" ? last_reason : undefined}>
            <Cell process={process} />
          </td>
        ))}
        <td class="actions">
          <RowActions process={process} />
        </td>
      </tr>
    );
  },
);

function GroupRow({ group, columns, index, count, onSelect }: RowProps & {
  readonly group: Group;
  /** Number of its members that are selected. */
  readonly count: number;
}) {
  const { title, filter, members } = group;
  const href = filter === undefined
    ? linkTo(["processes", title])
    : linkTo(["processes"], new URLSearchParams({ q: filter }));
  return (
    <tr class="group" aria-rowindex={index}>
      <td class="tick">
        <Tick
          label={`Select ${title}`}
          count={count}
          of={members.length}
          onChange={() => onSelect(members.map(({ id }) => id))}
        />
      </td>
      <th scope="row" class="name">
        <a href={href}>{title}</a> <span class="faint">{members.length}</span>
      </th>
      {columns.map(({ key, kind, total }) => <td key={key} class={kind}>{total?.(members)}</td>)}
      <td class="actions">
        <GroupActions title={title} members={members} />
      </td>
    </tr>
  );
}

/** A box to select one or more rows. */
function Tick({ label, count, of = 1, onChange }: {
  readonly label: string;
  readonly count: number;
  readonly of?: number;
  readonly onChange: () => void;
}) {
  return (
    <label class="tick-area">
      <input
        type="checkbox"
        aria-label={label}
        checked={count > 0 && count === of}
        ref={(box) => void (box && (box.indeterminate = count > 0 && count < of))}
        onChange={onChange}
      />
    </label>
  );
}

function Labels({ process: { namespace, tags } }: { process: ProcessJson }) {
  const isPlain = namespace === "default" && tags.length === 0;
  if (isPlain) return null;
  return (
    <span class="labels">
      {namespace !== "default" && <span class="label">{namespace}</span>}
      {tags.slice(0, 3).map((tag) => <span class="label tag" key={tag}>#{tag}</span>)}
    </span>
  );
}

/** Wraps a component so that it renders again only if a property is another object. */
function memo<P extends object>(inner: FunctionComponent<P>) {
  return class extends Component<P> {
    override shouldComponentUpdate(next: P): boolean {
      const known = this.props as Record<string, unknown>;
      return Object.entries(next).some(([key, value]) => known[key] !== value);
    }

    override render(): ComponentChildren {
      return h(inner, this.props as P);
    }
  };
}
