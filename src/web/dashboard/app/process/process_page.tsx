/** One process: why it is as it is, its output, its figures, its news and its configuration. */

import { act } from "./actions.ts";
import { copyText } from "../controls/copy.ts";
import { useKeys } from "../shell/keys.ts";
import { events } from "../data/news.ts";
import { go, linkTo, place } from "../data/router.ts";
import { baseName, isUp } from "./select.ts";
import { mayAdminister, mayOperate, processes, processList } from "../data/store.ts";
import type { ProcessJson } from "../data/types.ts";
import { Button, Empty, Loading } from "../controls/controls.tsx";
import { ConfigDrift } from "../config/config_plan.tsx";
import { EventList } from "../events/events.tsx";
import { ProcessCharts, Summary } from "./process_summary.tsx";
import { ProcessHealth, ProcessHooks } from "./process_health.tsx";
import { ProcessLog } from "../logs/log_pages.tsx";
import { openProcessMenu } from "./process_menu.tsx";
import { HealthBadge, StateBadge } from "./process_figures.tsx";
import { Tabs } from "../controls/tabs.tsx";
import { counted } from "../data/format.ts";

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
        onChoose={(next) => go(place.value.path, next === "summary" ? "" : `tab=${next}`)}
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

/** The buttons at the head of its page. */
function ProcessActions({ process }: { process: ProcessJson }) {
  const { name } = process;
  const names = [name];
  const up = isUp(process) || process.state === "waiting";
  const guarded = (then: () => void) => () => mayOperate.value && then();
  useKeys({
    s: guarded(() => void act("start", names)),
    S: guarded(() => void act("stop", names)),
    r: guarded(() => void act("restart", names)),
    R: guarded(() => void act("reload", names)),
    ".": guarded(() => document.getElementById("more-actions")?.click()),
    l: () => go(["processes", name], "tab=logs"),
  });
  if (!mayOperate.value) return null;
  return (
    <div class="row wrap head-actions">
      {up
        ? <Button icon="stop" onClick={() => act("stop", names)}>Stop</Button>
        : <Button icon="start" kind="primary" onClick={() => act("start", names)}>Start</Button>}
      <Button icon="restart" onClick={() => act("restart", names)}>Restart</Button>
      <Button icon="reload" onClick={() => act("reload", names)}>Reload</Button>
      <Button
        id="more-actions"
        icon="more"
        label="More actions (.)"
        onClick={({ currentTarget }) => openProcessMenu(name, currentTarget as HTMLElement)}
      />
    </div>
  );
}

/** The tab. */
function ProcessEnv({ process: { config } }: { process: ProcessJson }) {
  const names = Object.keys((config.env ?? {}) as object).sort();
  const inherits = config.inherit_env !== false;
  return (
    <section class="panel">
      <p class="faint small">
        {inherits
          ? "It also inherits the daemon's environment."
          : "It inherits nothing of the daemon's environment but what it cannot do without."}
        {config.env_file ? ` More comes from ${[config.env_file].flat().join(", ")}.` : ""}
        {" Values are never shown."}
      </p>
      {names.length === 0 ? <p>Its configuration sets no variable.</p> : (
        <dl class="facts env">
          {names.map((name) => (
            <div key={name}>
              <dt>
                <code>{name}</code>
              </dt>
              <dd class="faint" aria-label="hidden">••••••</dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}

/** Every key with its value. Values of the environment never leave the daemon. */
function ConfigTree({ config }: { config: Readonly<Record<string, unknown>> }) {
  return (
    <>
      <div class="row between">
        <p class="faint small">
          As it is in force, defaults included. Values of the environment are masked.
        </p>
        <Button icon="copy" onClick={() => void copyText(JSON.stringify(config, null, 2))}>
          Copy as JSON
        </Button>
      </div>
      <dl class="config">
        {Object.entries(config).map(([key, value]) => (
          <div key={key}>
            <dt>{key}</dt>
            <dd>
              <Value value={value} />
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function Value({ value }: { value: unknown }) {
  if (Array.isArray(value) && value.every((item) => typeof item !== "object")) {
    return <>{value.map((item, index) => <code key={index} class="item">{String(item)}</code>)}</>;
  }
  if (typeof value !== "object" || value === null) return <code>{String(value)}</code>;
  return (
    <dl class="config inner">
      {Object.entries(value).map(([key, inner]) => (
        <div key={key}>
          <dt>{key}</dt>
          <dd>
            <Value value={inner} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
