/** The page of a process: the reasons for its state, output, figures, events and configuration. */

import { Fragment, type FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
import { baseName } from "../../../../model/name.ts";
import { act } from "./actions.ts";
import { copyText } from "../shell/notices.ts";
import { useKeys } from "../shell/keys.ts";
import { go, linkTo, place } from "../data/router.ts";
import { isStarted } from "./select.ts";
import { mayAdminister, mayOperate, processesOf } from "../data/store.ts";
import { conditionOf } from "../../../../model/process_info.ts";
import type { ProcessJson } from "../../../../protocol/wire.ts";
import { Button, Empty, Facts, Trail } from "../controls/controls.tsx";
import { ChangeForm } from "./change_form.tsx";
import { ConfigDrift } from "../config/config_plan.tsx";
import { EventLog } from "../timeline/events.tsx";
import { ProcessCharts, Summary } from "./process_summary.tsx";
import { LastRelease } from "./last_release.tsx";
import { ProcessHealth, ProcessHooks } from "./process_health.tsx";
import { ProcessLog } from "../logs/log_view.tsx";
import { ProcessMenu, VerbButton } from "./process_menu.tsx";
import { HealthBadge, StateBadge, Tile } from "./process_figures.tsx";
import { bytes, counted, percent } from "../data/format.ts";
import { ProcessRows } from "./process_list.tsx";
import { TerminalView } from "../terminal/terminal.tsx";
import { total } from "./table_layout.ts";

const TABS = [
  ...["summary", "logs", "terminal", "health", "hooks", "env", "config", "events"] as const,
];

type Tab = (typeof TABS)[number];

/** Tabs about a key of the configuration: shown where it is set, or by their address. */
const TAB_KEYS: Partial<Readonly<Record<Tab, string>>> = {
  ...{ terminal: "tty", health: "health_check", hooks: "hooks" },
};

/** Tabs that fill the window. */
const FULL: readonly Tab[] = ["logs", "terminal"];

/** The screen of a process, or of an app with all its instances. */
export function Process() {
  const name = place.value.path[1] ?? "";
  const members = processesOf(name);
  const process = members.find((one) => one.name === name || one.id === name);
  if (members.length === 0) return <NotOne name={name} />;
  const tab = TABS.find((one) => one === place.value.params.get("tab")) ?? "summary";
  const tabs = TABS.filter((one) => {
    const key = TAB_KEYS[one];
    if (one === "terminal" && (!mayOperate.value || !process)) return false;
    return key === undefined || one === tab || isSet(members[0]!.config[key]);
  });
  const base = baseName(name);
  const layout = FULL.includes(tab) ? "fill" : "stack";
  return (
    <div class={layout}>
      <Trail>
        {process && base !== name && (
          <>
            {" "}
            <a href={linkTo(["processes", base])}>{base}</a> <span aria-hidden="true">/</span>
          </>
        )}
      </Trail>
      <div class="page-head">
        <h1 class="process-title">{process?.name ?? name}</h1>
        {process
          ? (
            <>
              <StateBadge state={conditionOf(process)} />
              <HealthBadge process={process} />
            </>
          )
          : <span class="faint">{counted(members.length, "instance")}</span>}
        <ProcessActions name={process?.name ?? name} members={members} isUnit={!process} />
      </div>
      <Tabs
        tabs={tabs}
        chosen={tab}
        onChoose={(next) => go(place.value.path, next === "summary" ? "" : `tab=${next}`)}
      />
      <div
        role="tabpanel"
        id="panel"
        aria-labelledby={`tab-${tab}`}
        class={layout}
      >
        <Body tab={tab} name={process?.name ?? name} members={members} process={process} />
      </div>
    </div>
  );
}

function isSet(value: unknown): boolean {
  return value === true || Object.keys(value ?? {}).length > 0;
}

interface TabsProps {
  readonly tabs: readonly Tab[];
  readonly chosen: Tab;
  readonly onChoose: (tab: Tab) => void;
}

/** A row of tabs; arrow keys move along it. */
function Tabs({ tabs, chosen, onChoose }: TabsProps) {
  // On a phone the tab may be out of view.
  useEffect(() => {
    document.getElementById(`tab-${chosen}`)?.scrollIntoView({
      block: "nearest",
      inline: "nearest",
    });
  }, [chosen]);
  const open = (next: Tab) => {
    onChoose(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <div
      class="tabs"
      role="tablist"
      aria-label="Parts"
      onKeyDown={(event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        const index = tabs.indexOf(chosen);
        if (step === undefined) return;
        event.preventDefault();
        open(tabs[(index + step + tabs.length) % tabs.length]!);
      }}
    >
      {tabs.map((one) => (
        <button
          key={one}
          id={`tab-${one}`}
          type="button"
          role="tab"
          aria-selected={one === chosen}
          aria-controls="panel"
          tabIndex={one === chosen ? 0 : -1}
          onClick={() => open(one)}
        >
          {one}
        </button>
      ))}
    </div>
  );
}

function NotOne({ name }: { name: string }) {
  return (
    <>
      <h1>{name}</h1>
      <Empty title="Process not found" action={{ text: "All processes", href: "#/processes" }}>
        It was deleted, or never existed. No process is named <code>{name}</code>.{" "}
        <a href={linkTo([], new URLSearchParams({ q: name }))}>What happened to it</a>
      </Empty>
    </>
  );
}

function Body({ tab, name, members, process }: {
  readonly tab: Tab;
  readonly name: string;
  readonly members: readonly ProcessJson[];
  /** Undefined for an app with several instances. */
  readonly process: ProcessJson | undefined;
}) {
  switch (tab) {
    case "logs":
      return <ProcessLog name={name} />;
    case "events":
      return <EventLog target={name} />;
    case "terminal":
      return process && mayOperate.value ? <TerminalView name={process.name} /> : null;
  }
  // All instances have the same configuration.
  const { name: first, config } = members[0]!;
  switch (tab) {
    case "summary":
      return (
        <>
          {process ? <Summary process={process} /> : <UnitSummary members={members} />}
          <ProcessCharts name={name} members={members} />
          <LastRelease members={members} />
        </>
      );
    case "health":
      return <OfEach members={members} Part={ProcessHealth} />;
    case "hooks":
      return <OfEach members={members} Part={ProcessHooks} />;
    case "env":
      return <ProcessEnv config={config} />;
    case "config":
      if (mayAdminister.value && place.value.params.has("change")) {
        return <ChangeForm of={members[0]!} />;
      }
      return (
        <>
          {mayAdminister.value && <ConfigDrift name={first} />}
          <ConfigTree config={config} />
        </>
      );
  }
}

/** A part for each instance, under its name if there are several. */
function OfEach({ members, Part }: {
  readonly members: readonly ProcessJson[];
  readonly Part: FunctionComponent<{ process: ProcessJson }>;
}) {
  return (
    <>
      {members.map((process) => (
        <Fragment key={process.id}>
          {members.length > 1 && <h2>{process.name}</h2>}
          <Part process={process} />
        </Fragment>
      ))}
    </>
  );
}

function UnitSummary({ members }: { members: readonly ProcessJson[] }) {
  const up = members.filter(({ state }) => state === "running").length;
  return (
    <>
      <div class="tiles">
        <Tile title="Running" text={`${up} of ${members.length}`} />
        <Tile title="CPU" text={percent(total(members, ({ cpu_percent }) => cpu_percent))} />
        <Tile title="Memory" text={bytes(total(members, ({ memory_bytes }) => memory_bytes))} />
        <Tile title="Restarts" text={String(total(members, ({ restarts }) => restarts))} />
      </div>
      <ProcessRows shown={members} />
    </>
  );
}

function ProcessActions({ name, members, isUnit }: {
  readonly name: string;
  readonly members: readonly ProcessJson[];
  readonly isUnit: boolean;
}) {
  const names = [name];
  const guarded = (then: () => void) => () => mayOperate.value && then();
  // With several instances, the keys belong to the rows.
  useKeys(
    isUnit ? {} : {
      s: guarded(() => void act("start", names)),
      S: guarded(() => void act("stop", names)),
      r: guarded(() => void act("restart", names)),
      R: guarded(() => void act("reload", names)),
      ".": guarded(() => document.getElementById("more-actions")?.click()),
      l: () => go(["processes", name], "tab=logs"),
    },
  );
  if (!mayOperate.value) return null;
  return (
    <div class="row wrap head-actions">
      {members.some(isStarted)
        ? <VerbButton verb="stop" names={names} />
        : <VerbButton verb="start" names={names} kind="primary" />}
      <VerbButton verb="restart" names={names} />
      <VerbButton verb={isUnit ? "roll" : "reload"} names={names} />
      <ProcessMenu
        id="more-actions"
        label={isUnit ? "More actions" : "More actions (.)"}
        name={name}
      />
    </div>
  );
}

const HIDDEN = <span class="faint" role="img" aria-label="hidden">••••••</span>;

function ProcessEnv({ config }: Pick<ProcessJson, "config">) {
  const names = Object.keys((config.env ?? {}) as object).sort();
  const { inherit_env: inherited } = config;
  return (
    <section class="panel">
      <p class="faint small">
        {inherited === false
          ? "It inherits nothing besides the essential variables."
          : `It also inherits ${
            Array.isArray(inherited) ? `${inherited.join(", ") || "nothing"} from` : ""
          } the environment of the shell that added it, or else the daemon's.`}
        {config.env_file
          ? ` More comes from ${
            [config.env_file as string | { path: string }].flat()
              .map((file) => typeof file === "string" ? file : file.path).join(", ")
          }.`
          : ""}
        {" Values are never shown."}
      </p>
      {names.length === 0
        ? <p>Its configuration sets no variable.</p>
        : <Facts kind="facts env" facts={names.map((name) => [name, HIDDEN])} />}
    </section>
  );
}

/** Every key with its value. Values of the environment never leave the daemon. */
function ConfigTree({ config }: { config: Readonly<Record<string, unknown>> }) {
  return (
    <>
      <div class="row between">
        <p class="faint small">
          Effective configuration, including defaults. Values of the environment are masked.
        </p>
        <Button icon="copy" onClick={() => void copyText(JSON.stringify(config, null, 2))}>
          Copy as JSON
        </Button>
      </div>
      <Tree kind="config" value={config} />
    </>
  );
}

function Value({ value }: { value: unknown }) {
  if (Array.isArray(value) && value.every((item) => typeof item !== "object")) {
    return <>{value.map((item, index) => <code key={index} class="item">{String(item)}</code>)}</>;
  }
  if (typeof value !== "object" || value === null) return <code>{String(value)}</code>;
  return <Tree kind="config inner" value={value} />;
}

function Tree({ kind, value }: { readonly kind: string; readonly value: object }) {
  return (
    <Facts
      kind={kind}
      facts={Object.entries(value).map(([key, inner]) => [key, <Value key={key} value={inner} />])}
    />
  );
}
