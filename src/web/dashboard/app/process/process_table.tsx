/** The table of processes. If its columns do not fit, a row becomes two lines. */

import { Component, type ComponentChildren, type FunctionComponent, h } from "preact";
import { linkTo, setParams } from "../data/router.ts";
import { isUp, type SortKey } from "./select.ts";
import type { ProcessJson } from "../data/types.ts";
import { Icon } from "../controls/controls.tsx";
import {
  Awaited,
  Cpu,
  HealthBadge,
  Memory,
  Ports,
  StateBadge,
  Uptime,
} from "./process_figures.tsx";
import { RowActions } from "./process_menu.tsx";

/** Processes under a heading. */
export interface Group {
  readonly title: string;
  /** A page about them. */
  readonly href?: string;
  readonly members: readonly ProcessJson[];
}

interface ProcessTableProps {
  readonly groups: readonly Group[];
  readonly sort: SortKey;
  readonly descending: boolean;
  readonly selected: ReadonlySet<string>;
  readonly onSelect: (id: string) => void;
  readonly onSelectAll: () => void;
}

const COLUMNS: readonly { key: SortKey | "ports"; text: string; kind: string }[] = [
  { key: "name", text: "Name", kind: "name" },
  { key: "state", text: "State", kind: "state" },
  { key: "cpu", text: "CPU", kind: "figure" },
  { key: "memory", text: "Memory", kind: "figure" },
  { key: "ports", text: "Ports", kind: "" },
  { key: "uptime", text: "Up", kind: "number" },
  { key: "restarts", text: "Restarts", kind: "number" },
];

export function ProcessTable(props: ProcessTableProps) {
  const { groups, selected, onSelect } = props;
  return (
    <div class="table-frame">
      <table class="processes">
        <caption class="unseen">Processes</caption>
        <Head {...props} />
        {groups.map(({ title, href, members }) => (
          <tbody key={title}>
            {title && (
              <tr class="group">
                <th colSpan={10} scope="rowgroup">
                  {href ? <a href={href}>{title}</a> : title}{" "}
                  <span class="faint">{members.length}</span>
                </th>
              </tr>
            )}
            {members.map((process) => (
              <ProcessRow
                key={process.id}
                process={process}
                selected={selected.has(process.id)}
                onSelect={onSelect}
              />
            ))}
          </tbody>
        ))}
      </table>
    </div>
  );
}

function Head({ groups, sort, descending, selected, onSelectAll }: ProcessTableProps) {
  const all = groups.flatMap(({ members }) => members);
  const count = all.filter(({ id }) => selected.has(id)).length;
  return (
    <thead>
      <tr>
        <td class="tick">
          <label class="tick-area">
            <input
              type="checkbox"
              aria-label="Select all that are shown"
              checked={count > 0 && count === all.length}
              ref={(box) => void (box && (box.indeterminate = count > 0 && count < all.length))}
              onChange={onSelectAll}
            />
          </label>
        </td>
        {COLUMNS.map(({ key, text, kind }) => {
          if (key === "ports") return <th key={key} scope="col" class="ports optional">{text}</th>;
          const isSorted = sort === key;
          const order = descending ? "descending" : "ascending";
          return (
            <th key={key} scope="col" class={kind} aria-sort={isSorted ? order : undefined}>
              <button type="button" class="sort" onClick={() => sortBy(key, isSorted, descending)}>
                {text}
                {isSorted && <Icon name={descending ? "down" : "up"} size={12} />}
              </button>
            </th>
          );
        })}
        <th scope="col" class="number rare">Pid</th>
        <td />
      </tr>
    </thead>
  );
}

/** Sorts figures in descending order first. The third click restores the order by numeric id. */
function sortBy(key: SortKey, isSorted: boolean, descending: boolean): void {
  const isFigure = key === "cpu" || key === "memory" || key === "restarts";
  if (!isSorted) setParams({ sort: key, dir: isFigure ? "desc" : "" });
  else if (descending === isFigure) setParams({ dir: isFigure ? "" : "desc" });
  else setParams({ sort: "", dir: "" });
}

interface ProcessRowProps {
  readonly process: ProcessJson;
  readonly selected: boolean;
  readonly onSelect: (id: string) => void;
}

/** A row. Rendered again only if the process changed; figures update independently. */
const ProcessRow = memo(
  function ProcessRow({ process, selected, onSelect }: ProcessRowProps) {
    const { id, name, restarts, pid } = process;
    return (
      <tr class={selected ? "selected" : ""} data-row={name}>
        <td class="tick">
          <Tick process={process} selected={selected} onSelect={onSelect} />
        </td>
        <th scope="row" class="name">
          <div class="name-cell">
            <a class="clip" href={linkTo(["processes", name])} title={name}>{name}</a>
            <Labels process={process} />
          </div>
        </th>
        <td class="state" title={process.last_reason}>
          <StateBadge state={process.state} />
          <HealthBadge process={process} />
          <Awaited process={process} />
        </td>
        <td class="figure">{isUp(process) && <Cpu id={id} now={process.cpu_percent} />}</td>
        <td class="figure">{isUp(process) && <Memory id={id} now={process.memory_bytes} />}</td>
        <td class="ports optional">
          <Ports id={id} />
        </td>
        <td class="number">
          <Uptime process={process} />
        </td>
        <td class={`number restarts${restarts > 0 ? " some" : ""}`}>{restarts}</td>
        <td class="number faint rare">{pid === 0 ? "–" : pid}</td>
        <td class="actions">
          <RowActions process={process} />
        </td>
      </tr>
    );
  },
);

function Tick({ process: { id, name }, selected, onSelect }: ProcessRowProps) {
  return (
    <label class="tick-area">
      <input
        type="checkbox"
        aria-label={`Select ${name}`}
        checked={selected}
        onChange={() => onSelect(id)}
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
