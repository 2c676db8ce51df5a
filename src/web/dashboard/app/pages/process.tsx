/** One process: why it is as it is, its output, its figures, its news and its configuration. */

import { linkTo, place, setParams } from "../data/router.ts";
import { events } from "../data/news.ts";
import { baseName } from "../data/select.ts";
import { mayAdminister, processes, processList } from "../data/store.ts";
import type { ProcessJson } from "../data/types.ts";
import { Empty, Loading } from "../parts/empty.tsx";
import { EventList } from "../parts/event_list.tsx";
import { ConfigDrift } from "../parts/config_drift.tsx";
import { ConfigTree } from "../parts/config_tree.tsx";
import { ProcessActions } from "../parts/process_actions.tsx";
import { ProcessCharts } from "../parts/process_charts.tsx";
import { ProcessEnv } from "../parts/process_env.tsx";
import { ProcessHealth } from "../parts/process_health.tsx";
import { ProcessHooks } from "../parts/process_hooks.tsx";
import { ProcessLog } from "../parts/process_log.tsx";
import { HealthBadge, StateBadge } from "../parts/state_badge.tsx";
import { Summary } from "../parts/process_summary.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { counted } from "../text/format.ts";

const TABS = [
  ...["summary", "logs", "metrics", "health", "hooks", "env", "config", "events"] as const,
];

type Tab = (typeof TABS)[number];

/** The screen. */
export function Process() {
  const name = place.value.path[1] ?? "";
  const process = processList.value.find((one) => one.name === name || one.id === name);
  if (processes.value === null) return <Loading />;
  if (process === undefined) return <NotOne name={name} />;
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
      <Tabs
        tabs={TABS}
        chosen={tab}
        onChoose={(next) => setParams({ tab: next === "summary" ? "" : next })}
      />
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

/** What the name of an app with instances leads to, and one that nothing has. */
function NotOne({ name }: { name: string }) {
  const instances = processList.value.filter((one) => baseName(one.name) === name);
  const all = linkTo(["processes"], new URLSearchParams({ q: name }));
  return (
    <>
      <h1>{name}</h1>
      {instances.length > 0
        ? (
          <Empty
            title={`It has ${counted(instances.length, "instance")}`}
            action={{ text: "All of them", href: all }}
          >
            {instances.map((one) => (
              <>
                <a href={linkTo(["processes", one.name])}>{one.name}</a>
                {" "}
              </>
            ))}
          </Empty>
        )
        : (
          <Empty title="Process not found" action={{ text: "All processes", href: "#/processes" }}>
            It was deleted, or never was. Nothing is called <code>{name}</code>.
          </Empty>
        )}
    </>
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
    case "health":
      return <ProcessHealth process={process} />;
    case "hooks":
      return <ProcessHooks process={process} />;
    case "env":
      return <ProcessEnv process={process} />;
    case "events":
      return (
        <section class="panel">
          <p class="faint small">Since this page was opened, and what was known by then.</p>
          <EventList
            events={events.value.filter(({ name }) => name === process.name)}
            named={false}
          />
        </section>
      );
    case "config":
      return (
        <>
          {mayAdminister.value && <ConfigDrift name={process.name} />}
          <ConfigTree config={process.config} />
        </>
      );
  }
}
