/** The columns of the table of processes, and which of them the user has chosen. */

import { computed } from "@preact/signals";
import type { ComponentChildren, FunctionComponent } from "preact";
import { baseName } from "../../../../model/name.ts";
import { conditionOf } from "../../../../model/process_info.ts";
import type { ProcessJson } from "../../../../protocol/wire.ts";
import { Choice, Menu } from "../controls/menu.tsx";
import { bytes, counted, percent } from "../data/format.ts";
import { lastHour } from "../data/past.ts";
import { linkTo } from "../data/router.ts";
import { logErrors, processList } from "../data/store.ts";
import { keptList } from "../shell/settings.ts";
import { Awaited, HealthBadge, Measure, Ports, StateBadge, Uptime } from "./process_figures.tsx";
import { isUp, type SortKey } from "./select.ts";
import { growthOf, total } from "./table_layout.ts";

const KEYS = [
  ...["state", "cpu", "memory", "growth", "ports", "uptime", "restarts"] as const,
  ...["instances", "errors", "last_error", "pid"] as const,
];

type Key = (typeof KEYS)[number];

type CellProps = { readonly process: ProcessJson };

export interface Column {
  readonly key: string;
  readonly text: string;
  /** Explains the text. */
  readonly title?: string;
  readonly kind: string;
  /** Width in pixels, that of the small chart included. */
  readonly px: number;
  readonly sort?: SortKey;
  /** True for figures: the largest are sorted to the top first. */
  readonly isFigure?: true;
  readonly isChart?: true;
  /** True if it shows the last hour. */
  readonly isOfHour?: true;
  readonly Cell: FunctionComponent<CellProps>;
  /** What the row of a group shows. */
  readonly total?: (members: readonly ProcessJson[]) => ComponentChildren;
}

const MEASURED = { kind: "figure", isFigure: true, isChart: true, isOfHour: true } as const;

const COLUMNS: Readonly<Record<Key, Omit<Column, "key">>> = {
  state: {
    ...{ text: "State", kind: "state", px: 186, sort: "state" },
    Cell: ({ process }) => (
      <>
        <StateBadge state={conditionOf(process)} />
        <HealthBadge process={process} />
        <Awaited process={process} />
      </>
    ),
    total: (members) => {
      const up = members.filter(isUp).length;
      return <span class={up < members.length ? "" : "faint"}>{up} of {members.length} up</span>;
    },
  },
  cpu: {
    ...{ ...MEASURED, text: "CPU", px: 142, sort: "cpu" },
    Cell: ({ process }) =>
      isUp(process) && <Measure name={process.name} of="cpu" now={process.cpu_percent} />,
    total: (members) => percent(total(members, ({ cpu_percent }) => cpu_percent)),
  },
  memory: {
    ...{ ...MEASURED, text: "Memory", px: 146, sort: "memory" },
    Cell: ({ process }) =>
      isUp(process) && <Measure name={process.name} of="memory" now={process.memory_bytes} />,
    total: (members) => bytes(total(members, ({ memory_bytes }) => memory_bytes)),
  },
  growth: {
    ...{ text: "Mem/hour", title: "By how much its memory grows in an hour", px: 92 },
    ...{ kind: "number", isOfHour: true },
    Cell: Growth,
  },
  ports: {
    text: "Ports",
    kind: "ports",
    px: 88,
    sort: "ports",
    Cell: ({ process }) => <Ports id={process.id} />,
  },
  uptime: { text: "Up", kind: "number", px: 76, sort: "uptime", Cell: Uptime },
  restarts: {
    ...{ text: "Restarts", kind: "number restarts", px: 74, sort: "restarts", isFigure: true },
    Cell: ({ process: { restarts } }) => <span class={restarts > 0 ? "some" : ""}>{restarts}</span>,
    total: (members) => total(members, ({ restarts }) => restarts),
  },
  instances: {
    ...{ text: "Instances", title: "Instances that are up, of all", kind: "number", px: 86 },
    Cell: Instances,
  },
  errors: {
    ...{ text: "Errors, 15m", title: "Errors in its log in the last 15 minutes" },
    ...{ kind: "number errors", px: 100, sort: "errors", isFigure: true },
    Cell: ({ process: { name } }) => <ErrorCount names={[name]} />,
    total: (members) => <ErrorCount names={members.map(({ name }) => name)} />,
  },
  last_error: { text: "Last error", kind: "last-error", px: 260, Cell: LastError },
  pid: {
    ...{ text: "Pid", kind: "number faint", px: 76, sort: "pid" },
    Cell: ({ process: { pid } }) => pid === 0 ? "–" : pid,
  },
};

const USUAL: readonly Key[] = ["state", "cpu", "memory", "ports", "uptime", "restarts"];

const chosen = keptList<Key>("columns", KEYS, USUAL);

export const shownColumns = computed<readonly Column[]>(() =>
  chosen.value.map((key) => ({ key, ...COLUMNS[key] }))
);

/** True if a shown column needs the errors in logs. */
export const showsErrors = computed(() =>
  chosen.value.some((key) => key === "errors" || key === "last_error")
);

export function ColumnsMenu() {
  return (
    <Menu label="Columns" icon="columns">
      {() =>
        KEYS.map((key) => (
          <Choice
            key={key}
            text={COLUMNS[key].text}
            isOn={chosen.value.includes(key)}
            onClick={() =>
              chosen.value = KEYS.filter((one) => chosen.value.includes(one) !== (one === key))}
          />
        ))}
    </Menu>
  );
}

function Growth({ process }: CellProps) {
  const growth = growthOf(lastHour.value.get(process.name) ?? []);
  if (growth === undefined || !isUp(process)) return <span class="faint">–</span>;
  const isLarge = growth > process.memory_bytes / 10;
  return (
    <span class={isLarge ? "some" : "faint"}>
      {growth < 0 ? "−" : "+"}
      {bytes(Math.abs(growth))}
    </span>
  );
}

function Instances({ process }: CellProps) {
  const app = baseName(process.name);
  const members = processList.value.filter(({ name }) => baseName(name) === app);
  return <>{members.filter(isUp).length} of {members.length}</>;
}

function ErrorCount({ names }: { names: readonly string[] }) {
  const count = names.reduce((sum, name) => sum + (logErrors.value.get(name)?.error ?? 0), 0);
  if (count === 0) return <span class="faint">0</span>;
  const query = new URLSearchParams([...names.map((name) => ["t", name]), ["level", "error"]]);
  return (
    <a
      class="some"
      href={linkTo(["logs"], query)}
      title={`${counted(count, "error")}: a click opens them`}
    >
      {count}
    </a>
  );
}

function LastError({ process: { name } }: CellProps) {
  const line = logErrors.value.get(name)?.last_error?.line ?? "";
  return <span class="clip" title={line}>{line}</span>;
}
