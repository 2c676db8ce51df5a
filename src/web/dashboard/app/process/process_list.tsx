/** All processes: searched, sorted, grouped and selected; and their table. */

import { baseName } from "../../../../model/name.ts";
import { useSignal } from "@preact/signals";
import { Component, type ComponentChildren, type FunctionComponent, h } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { parseFilter } from "../../../../protocol/select_processes.ts";
import { act, type Verb } from "./actions.ts";
import { useKeys } from "../shell/keys.ts";
import { usePolled } from "../data/polled.ts";
import { go, linkTo, place, setParams } from "../data/router.ts";
import { byKey, isSortKey, isUp, natural, type SortKey } from "./select.ts";
import { mayAdminister, mayOperate, ports, processList, stateCounts } from "../data/store.ts";
import { conditionOf, CONDITIONS_BY_URGENCY } from "../../../../model/process_info.ts";
import type { PortsJson, ProcessJson } from "../../../../protocol/wire.ts";
import { Button, Empty, Icon, NothingYet, Search, Select } from "../controls/controls.tsx";
import { counted } from "../data/format.ts";
import {
  Awaited,
  HealthBadge,
  Measure,
  Ports,
  StateBadge,
  StateShape,
  Uptime,
} from "./process_figures.tsx";
import { RowActions, VerbButton } from "./process_menu.tsx";

export function Processes() {
  const { params } = place.value;
  const search = params.get("q") ?? "";
  const state = params.get("state");
  const { sort, descending } = order();
  const groupBy = params.get("group") ?? "";
  const shown = useMemo(
    () => {
      const isMeant = parseFilter(search, ports.value);
      return inOrder(
        processList.value.filter((process) =>
          isMeant(process) && (state === null || conditionOf(process) === state)
        ),
      );
    },
    [processList.value, ports.value, search, state, sort, descending],
  );
  return (
    <>
      <ProcessFilters shown={shown.length} />
      {shown.length === 0 && <NothingHere isFiltered={processList.value.length > 0} />}
      <ProcessRows shown={shown} groupBy={groupBy} />
    </>
  );
}

const GROUPS = [
  ["", "No groups"],
  ["namespace", "By namespace"],
  ["app", "By app"],
  ["tag", "By tag"],
] as const;

/** The bar above the table. `shown` is the number of matching processes. */
function ProcessFilters({ shown }: { shown: number }) {
  const { params } = place.value;
  const total = processList.value.length;
  return (
    <div class="page-head">
      <h1>
        Processes{" "}
        <span class="faint count">{shown === total ? total : `${shown} of ${total}`}</span>
      </h1>
      <span class="unseen" role="status">{counted(shown, "process", "processes")} shown</span>
      <Search
        label="Search processes"
        placeholder="name, :port, ns:web, tag:db"
        value={params.get("q") ?? ""}
        onInput={(q) => setParams({ q })}
      >
        <kbd aria-hidden="true">/</kbd>
      </Search>
      <label class="group-by">
        <span class="unseen">Group by</span>
        <Select
          value={params.get("group") ?? ""}
          options={GROUPS}
          onChoose={(group) => setParams({ group })}
        />
      </label>
      <a class="button" href={linkTo(["processes"], "view=graph")}>
        <Icon name="graph" />
        <span>Graph</span>
      </a>
      {mayAdminister.value && (
        <>
          <a class="button" href={linkTo(["apply"])}>
            <Icon name="file" />
            <span>Apply</span>
          </a>
          <a class="button primary" href={linkTo(["start"])}>
            <Icon name="add" />
            <span>Start</span>
          </a>
        </>
      )}
      <StateFilter />
    </div>
  );
}

function StateFilter() {
  const chosen = place.value.params.get("state") ?? "";
  const present = CONDITIONS_BY_URGENCY.filter((state) =>
    stateCounts.value.has(state) || state === chosen
  );
  if (present.length < 2 && chosen === "") return null;
  return (
    <div class="chips" role="group" aria-label="State">
      {present.map((state) => (
        <button
          key={state}
          type="button"
          class="chip"
          aria-pressed={chosen === state}
          onClick={() => setParams({ state: chosen === state ? "" : state })}
        >
          <StateShape state={state} />
          {state} <span class="chip-count">{stateCounts.value.get(state) ?? 0}</span>
        </button>
      ))}
    </div>
  );
}

/** Rows of processes, with sorting, selection and actions. */
export function ProcessRows({ shown, groupBy = "" }: {
  readonly shown: readonly ProcessJson[];
  readonly groupBy?: string;
}) {
  const { sort, descending } = order();
  const selected = useSignal<ReadonlySet<string>>(new Set());
  const chosen = shown.filter(({ id }) => selected.value.has(id));
  const toggle = useRef((id: string) => {
    const next = new Set(selected.value);
    if (!next.delete(id)) next.add(id);
    selected.value = next;
  });
  const clear = () => selected.value = new Set();
  useProcessKeys(shown, chosen, toggle.current, clear);
  usePorts();
  return (
    <>
      {shown.length > 0 && (
        <ProcessTable
          {...{ sort, descending }}
          groups={grouped(shown, groupBy)}
          selected={selected.value}
          onSelect={toggle.current}
          onSelectAll={() =>
            selected.value = chosen.length === shown.length
              ? new Set()
              : new Set(shown.map(({ id }) => id))}
        />
      )}
      <BulkBar names={chosen.map(({ name }) => name)} onClear={clear} />
    </>
  );
}

function order(): { readonly sort: SortKey; readonly descending: boolean } {
  const { params } = place.value;
  const sort = params.get("sort");
  return {
    sort: isSortKey(sort) ? sort : "id",
    descending: params.get("dir") === "desc",
  };
}

export function inOrder(list: readonly ProcessJson[]): readonly ProcessJson[] {
  const { sort, descending } = order();
  const sorted = list.toSorted(byKey(sort));
  return descending ? sorted.reverse() : sorted;
}

function NothingHere({ isFiltered }: { isFiltered: boolean }) {
  if (!isFiltered) return <NothingYet />;
  return (
    <Empty title="Nothing matches">
      Filter by a part of a name, <code>ns:web</code>, <code>tag:db</code>,{" "}
      <code>label:team=core</code>, <code>:3000</code>, <code>unhealthy</code>, and <code>-</code>
      {" "}
      before one for all others.
    </Empty>
  );
}

function grouped(shown: readonly ProcessJson[], by: string): Group[] {
  const titleOf = GROUP_TITLES[by];
  if (titleOf === undefined) return [{ title: "", members: shown }];
  return [...Map.groupBy(shown, titleOf)].map(([title, members]) =>
    by === "app" ? { title, members, href: linkTo(["processes", title]) } : { title, members }
  )
    .sort((a, b) => natural.compare(a.title, b.title));
}

const GROUP_TITLES: Readonly<Record<string, (process: ProcessJson) => string>> = {
  namespace: ({ namespace }) => namespace,
  app: ({ name }) => baseName(name),
  tag: ({ tags }) => tags[0] === undefined ? "no tag" : `#${tags[0]}`,
};

function rowOf(process: ProcessJson | undefined): HTMLElement | null {
  if (process === undefined) return null;
  return document.querySelector<HTMLElement>(`[data-row="${CSS.escape(process.name)}"]`);
}

/** Keys act on the selected rows, otherwise on the focused one. */
function useProcessKeys(
  shown: readonly ProcessJson[],
  chosen: readonly ProcessJson[],
  toggle: (id: string) => void,
  clear: () => void,
): void {
  const focused = () => {
    const name = document.activeElement?.closest<HTMLElement>("[data-row]")?.dataset.row;
    return shown.findIndex((process) => process.name === name);
  };
  const move = (step: number) => {
    const next = Math.max(0, Math.min(shown.length - 1, focused() + step));
    rowOf(shown[next])?.querySelector<HTMLElement>("a")?.focus();
  };
  const withNames = (then: (names: string[]) => void) => () => {
    const one = shown[focused()];
    const names = chosen.length > 0 ? chosen : one === undefined ? [] : [one];
    if (names.length > 0) then(names.map(({ name }) => name));
  };
  const doing = (verb: Verb) => withNames((names) => mayOperate.value && void act(verb, names));
  useKeys({
    j: () => move(1),
    k: () => move(focused() < 0 ? 1 : -1),
    x: () => shown[focused()] && toggle(shown[focused()]!.id),
    s: doing("start"),
    S: doing("stop"),
    ".": () => rowOf(shown[focused()])?.querySelector<HTMLElement>("[aria-label^='More']")?.click(),
    r: doing("restart"),
    R: doing("reload"),
    l: withNames((names) => go(["logs"], new URLSearchParams(names.map((name) => ["t", name])))),
    Escape: () => {
      if (chosen.length > 0) clear();
      else setParams({ q: "" });
    },
  });
}

const BULK = ["start", "stop", "restart", "reload", "roll"] as const;

function BulkBar({ names, onClear }: { names: readonly string[]; onClear: () => void }) {
  if (names.length === 0) return null;
  const logs = linkTo(["logs"], new URLSearchParams(names.map((name) => ["t", name])));
  return (
    <div class="bulk" role="toolbar" aria-label="Selected processes">
      <strong>{counted(names.length, "selected", "selected")}</strong>
      {mayOperate.value && BULK.map((verb) => (
        <VerbButton
          key={verb}
          verb={verb}
          names={verb === "roll" ? [...new Set(names.map(baseName))] : names}
        />
      ))}
      <a class="button" href={logs}>
        <Icon name="logs" />
        <span>Logs</span>
      </a>
      {mayAdminister.value && (
        <Button
          icon="delete"
          kind="danger"
          onClick={async () => await act("delete", names) && onClear()}
        >
          Delete
        </Button>
      )}
      <Button icon="close" kind="quiet" label="Select nothing" onClick={onClear} />
    </div>
  );
}

const EVERY_MS = 10_000;
/** An app that has just started takes a moment to listen. */
const SETTLED_MS = 3000;

/** Requests the ports while the component is shown: regularly, and soon after a start or end. */
function usePorts(): void {
  const { data, reload } = usePolled<readonly PortsJson[]>("/ports", EVERY_MS);
  const pids = processList.value.map(({ pid }) => pid).join(" ");
  useEffect(() => {
    const timer = setTimeout(() => void reload(), SETTLED_MS);
    return () => clearTimeout(timer);
  }, [pids]);
  useEffect(() => {
    const found = data.value;
    if (found === undefined) return;
    ports.value = new Map(
      found.map(({ id, ports }) => [id, [...new Set(ports.map(({ port }) => port))]]),
    );
  }, [data.value]);
}

interface Group {
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

/** If its columns do not fit, a row becomes two lines. */
function ProcessTable(props: ProcessTableProps) {
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
          <StateBadge state={conditionOf(process)} />
          <HealthBadge process={process} />
          <Awaited process={process} />
        </td>
        <td class="figure">
          {isUp(process) && <Measure id={id} of="cpu" now={process.cpu_percent} />}
        </td>
        <td class="figure">
          {isUp(process) && <Measure id={id} of="memory" now={process.memory_bytes} />}
        </td>
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
