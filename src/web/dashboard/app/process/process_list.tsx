/** All processes: searched, sorted, grouped and selected. */

import { baseName } from "../../../../model/name.ts";
import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { parseFilter } from "../../../../protocol/select_processes.ts";
import { act, type Verb } from "./actions.ts";
import { useKeys } from "../shell/keys.ts";
import { usePolled } from "../data/polled.ts";
import { go, linkTo, place, setParams } from "../data/router.ts";
import { isSortKey } from "./select.ts";
import {
  logErrors,
  mayAdminister,
  mayOperate,
  ports,
  processList,
  stateCounts,
} from "../data/store.ts";
import { conditionOf, CONDITIONS_BY_URGENCY } from "../../../../model/process_info.ts";
import type { ProcessJson } from "../../../../protocol/wire.ts";
import { Button, Empty, NothingYet, Search, Select } from "../controls/controls.tsx";
import { Icon } from "../controls/icons.tsx";
import { counted } from "../data/format.ts";
import { ColumnsMenu, showsErrors } from "./process_columns.tsx";
import { StateShape } from "./process_figures.tsx";
import { VerbButton } from "./process_menu.tsx";
import { ProcessTable } from "./process_table.tsx";
import { MOST_COMPARED } from "./compare.tsx";
import { grouped, type Order, rowsOf, sorted } from "./table_layout.ts";

export function Processes() {
  const { params } = place.value;
  const search = params.get("q") ?? "";
  const state = params.get("state");
  const shown = useMemo(() => {
    const isMeant = parseFilter(search, ports.value);
    return processList.value.filter((process) =>
      isMeant(process) && (state === null || conditionOf(process) === state)
    );
  }, [processList.value, ports.value, search, state]);
  return (
    <div class="fill">
      <ProcessFilters shown={shown.length} />
      {shown.length === 0 && <NothingHere isFiltered={processList.value.length > 0} />}
      <ProcessRows shown={shown} groupBy={params.get("group") ?? ""} />
    </div>
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
      <ColumnsMenu />
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
          {state} <span class="faint">{stateCounts.value.get(state) ?? 0}</span>
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
  const figures = { ports: ports.value, errors: logErrors.value };
  const rows = useMemo(() => {
    const inOrder = sorted(shown, { sort, descending }, figures);
    return rowsOf(grouped(inOrder, groupBy, { sort, descending }));
  }, [shown, groupBy, sort, descending, ports.value, logErrors.value]);
  const all = useMemo(
    () => rows.flatMap((row) => "process" in row ? [row.process] : []),
    [rows],
  );
  const selected = useSignal<ReadonlySet<string>>(new Set());
  const chosen = all.filter(({ id }) => selected.value.has(id));
  // Selects them all, or none if all of them are selected.
  const toggle = useRef((ids: readonly string[]) => {
    const [before, some] = [selected.value, new Set(ids)];
    selected.value = before.isSupersetOf(some) ? before.difference(some) : before.union(some);
  });
  const clear = () => selected.value = new Set();
  useProcessKeys(all, chosen, toggle.current, clear);
  usePorts();
  return (
    <>
      {shown.length > 0 && (
        <ProcessTable
          {...{ rows, sort, descending }}
          selected={selected.value}
          onSelect={toggle.current}
        />
      )}
      {showsErrors.value && <LoadErrors />}
      <BulkBar names={chosen.map(({ name }) => name)} onClear={clear} />
    </>
  );
}

function order(): Order {
  const { params } = place.value;
  const sort = params.get("sort");
  return {
    sort: isSortKey(sort) ? sort : "id",
    descending: params.get("dir") === "desc",
  };
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

function rowOf(process: ProcessJson | undefined): HTMLElement | null {
  if (process === undefined) return null;
  return document.querySelector<HTMLElement>(`[data-row="${CSS.escape(process.name)}"]`);
}

/** Keys act on the selected rows, otherwise on the focused one. */
function useProcessKeys(
  shown: readonly ProcessJson[],
  chosen: readonly ProcessJson[],
  toggle: (ids: readonly string[]) => void,
  clear: () => void,
): void {
  const indexOf = (row: HTMLElement | null | undefined) =>
    shown.findIndex(({ name }) => name === row?.dataset.row);
  const focused = () => indexOf(document.activeElement?.closest<HTMLElement>("[data-row]"));
  const move = (step: number) => {
    const at = focused();
    const rendered = indexOf(document.querySelector<HTMLElement>("[data-row]"));
    const next = at < 0 ? rendered : Math.max(0, Math.min(shown.length - 1, at + step));
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
    k: () => move(-1),
    x: () => shown[focused()] && toggle([shown[focused()]!.id]),
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
  const targets = names.map((name) => ["t", name]);
  const logs = linkTo(["logs"], new URLSearchParams(targets));
  const compare = linkTo(["processes"], new URLSearchParams([["view", "compare"], ...targets]));
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
      {names.length > 1 && names.length <= MOST_COMPARED && (
        <a class="button" href={compare}>
          <Icon name="events" />
          <span>Compare</span>
        </a>
      )}
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
  const { data, reload } = usePolled("ports", undefined, EVERY_MS);
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

const ERRORS = { since: "15m", steps: 1, by_name: true };
const ERRORS_MS = 30_000;

/** Requests the errors in logs while it is shown. */
function LoadErrors() {
  const { data } = usePolled("log_counts", ERRORS, ERRORS_MS);
  useEffect(() => {
    logErrors.value = new Map((data.value?.names ?? []).map((one) => [one.name, one]));
  }, [data.value]);
  return null;
}
