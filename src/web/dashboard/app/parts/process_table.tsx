/** The table of processes. */

import { setParams } from "../data/router.ts";
import type { SortKey } from "../data/select.ts";
import type { ProcessJson } from "../data/types.ts";
import { Icon } from "./icon.tsx";
import { ProcessRow } from "./process_row.tsx";

/** Processes under a heading. */
export interface Group {
  readonly title: string;
  readonly members: readonly ProcessJson[];
}

/** What it shows and how. */
export interface ProcessTableProps {
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

/** The table. */
export function ProcessTable(props: ProcessTableProps) {
  const { groups, selected, onSelect } = props;
  return (
    <div class="table-frame">
      <table class="processes">
        <caption class="unseen">Processes</caption>
        <Head {...props} />
        {groups.map(({ title, members }) => (
          <tbody key={title}>
            {title && (
              <tr class="group">
                <th colSpan={10} scope="rowgroup">
                  {title} <span class="faint">{members.length}</span>
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
          if (key === "ports") {
            return <th key={key} scope="col" class="ports optional">{text}</th>;
          }
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

/** Figures begin with the largest; a third click gives the order by number back. */
function sortBy(key: SortKey, isSorted: boolean, descending: boolean): void {
  const isFigure = key === "cpu" || key === "memory" || key === "restarts";
  if (!isSorted) setParams({ sort: key, dir: isFigure ? "desc" : "" });
  else if (descending === isFigure) setParams({ dir: isFigure ? "" : "desc" });
  else setParams({ sort: "", dir: "" });
}
