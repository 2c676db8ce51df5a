/** One process: why it is as it is, its output, its figures, its news and its configuration. */

import { linkTo, place, setParams } from "../data/router.ts";
import { events, processes, processList } from "../data/store.ts";
import type { ProcessJson } from "../data/types.ts";
import { Empty, Loading } from "../parts/empty.tsx";
import { EventList } from "../parts/event_list.tsx";
import { ConfigTree } from "../parts/config_tree.tsx";
import { ProcessActions } from "../parts/process_actions.tsx";
import { ProcessCharts } from "../parts/process_charts.tsx";
import { ProcessLog } from "../parts/process_log.tsx";
import { HealthBadge, StateBadge } from "../parts/state_badge.tsx";
import { Summary } from "../parts/process_summary.tsx";

const TABS = ["summary", "logs", "metrics", "events", "config"] as const;

type Tab = (typeof TABS)[number];

/** The screen. */
export function Process() {
  const name = place.value.path[1] ?? "";
  const process = processList.value.find((one) => one.name === name || one.id === name);
  if (processes.value === null) return <Loading />;
  if (process === undefined) {
    return (
      <>
        <h1>{name}</h1>
        <Empty title="process not found" action={{ text: "All processes", href: "#/processes" }}>
          It was deleted, or never was. Nothing is called <code>{name}</code>.
        </Empty>
      </>
    );
  }
  const wanted = place.value.params.get("tab");
  const tab = TABS.find((one) => one === wanted) ?? "summary";
  return (
    <div class={tab === "logs" ? "fill" : "stack"}>
      <nav class="trail small" aria-label="Trail">
        <a href={linkTo(["processes"])}>Processes</a> <span aria-hidden="true">/</span>
      </nav>
      <div class="page-head">
        <h1 class="process-title">{process.name}</h1>
        <StateBadge state={process.state} />
        <HealthBadge process={process} />
        <ProcessActions process={process} />
      </div>
      <Tabs tab={tab} />
      <div
        role="tabpanel"
        id="panel"
        aria-labelledby={`tab-${tab}`}
        class={tab === "logs" ? "fill" : "panel-body"}
      >
        <Body tab={tab} process={process} />
      </div>
    </div>
  );
}

function Body({ tab, process }: { tab: Tab; process: ProcessJson }) {
  switch (tab) {
    case "summary":
      return <Summary process={process} />;
    case "logs":
      return <ProcessLog name={process.name} />;
    case "metrics":
      return <ProcessCharts process={process} />;
    case "events":
      return (
        <>
          <p class="faint small">Since this page was opened, and what was known by then.</p>
          <EventList
            events={events.value.filter(({ name }) => name === process.name)}
            named={false}
          />
        </>
      );
    case "config":
      return <ConfigTree config={process.config} />;
  }
}

function Tabs({ tab }: { tab: Tab }) {
  const open = (next: Tab) => {
    setParams({ tab: next === "summary" ? "" : next });
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <div
      class="tabs"
      role="tablist"
      aria-label="Parts"
      onKeyDown={({ key }) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
        const index = TABS.indexOf(tab);
        if (step !== undefined) open(TABS[(index + step + TABS.length) % TABS.length]!);
      }}
    >
      {TABS.map((one) => (
        <button
          key={one}
          id={`tab-${one}`}
          type="button"
          role="tab"
          aria-selected={one === tab}
          aria-controls="panel"
          tabIndex={one === tab ? 0 : -1}
          onClick={() => open(one)}
        >
          {one}
        </button>
      ))}
    </div>
  );
}
