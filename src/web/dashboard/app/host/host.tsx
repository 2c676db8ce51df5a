/** The screen of the machine and the daemon, with examples of API calls. */

import { run, withProgress } from "../process/actions.ts";
import { ask } from "../data/api.ts";
import { confirmed } from "../shell/notices.ts";
import { useEvents, useSeries } from "../data/past.ts";
import { usePolled } from "../data/polled.ts";
import { BASE } from "../data/tab_key.ts";
import {
  clock,
  mayAdminister,
  mayOperate,
  metrics,
  session,
  type SystemMetrics,
} from "../data/store.ts";
import type { SystemInfoJson } from "../../../../protocol/wire.ts";
import { Button, CopyButton, Facts, Loading } from "../controls/controls.tsx";
import { RangePicker } from "../controls/range_picker.tsx";
import { Chart, marksOf } from "./chart.tsx";
import { range } from "../data/router.ts";
import { bytes, percent, relative, span } from "../data/format.ts";

const INFO_MS = 30_000;

export function Host() {
  const happened = useEvents({ limit: 300 }, range.value);
  const common = {
    lines: [useSeries(range.value)],
    marks: marksOf(happened.data.value?.events ?? []),
  };
  const { data } = usePolled("system_info", undefined, INFO_MS);
  const [host, info] = [metrics.value, data.value];
  if (host === undefined) return <Loading />;
  return (
    <>
      <div class="page-head">
        <h1>{host.hostname ?? "Host"}</h1>
        <DaemonActions />
      </div>
      <RangePicker />
      <div class="charts three">
        <Chart {...common} title="CPU" of="cpu" format={percent} most={100} />
        <Chart
          {...common}
          title="Memory"
          of="memory"
          format={bytes}
          most={host.total_memory ?? 1}
        />
        <Chart
          {...common}
          title="Load, 1 minute"
          of="load"
          format={(value) => value.toFixed(2)}
          most={host.cpu_count ?? 1}
        />
      </div>
      <div class="two">
        <FactPanel title="Machine" facts={machineFacts(host, info)} />
        <FactPanel title="Daemon" facts={daemonFacts(host, info)} />
      </div>
      <Snippets home={info?.home ?? "~/.procsup"} />
    </>
  );
}

function DaemonActions() {
  const resurrect = async () => {
    const yes = await confirmed(
      "Restore the saved apps?",
      "Saved processes that no longer exist are added and started.",
      "Restore",
      { isDangerous: false },
    );
    if (!yes) return;
    await run(
      { doing: "Restoring the saved apps", done: "The saved apps are restored" },
      "resurrect",
      undefined,
    );
  };
  const save = () => run({ doing: "Saving the list", done: "The list is saved" }, "save", {});
  return (
    <div class="row wrap head-actions">
      {mayOperate.value && <Button icon="save" onClick={save}>Save list</Button>}
      {mayAdminister.value && <Button icon="reload" onClick={resurrect}>Resurrect</Button>}
      <Button icon="leave" onClick={signOut}>Sign out</Button>
    </div>
  );
}

/** Ends the session; the page asks to sign in. */
async function signOut(): Promise<void> {
  const words = { doing: "Signing out", done: "Signed out" };
  const end = () => ask("/session", { method: "DELETE" });
  if (await withProgress(words, end)) location.reload();
}

function machineFacts(host: SystemMetrics, info?: SystemInfoJson): [string, string][] {
  const { cpu_load_1, cpu_load_5, cpu_load_15 } = host;
  const loads = [cpu_load_1, cpu_load_5, cpu_load_15].map((load) => (load ?? 0).toFixed(2));
  return [
    ["System", `${host.platform ?? ""} ${host.arch ?? ""}`],
    ["Up", span((host.uptime_seconds ?? 0) * 1000)],
    ["Cores", String(host.cpu_count ?? "–")],
    ["Load", loads.join(" · ")],
    ["Memory", `${bytes(host.used_memory ?? 0)} of ${bytes(host.total_memory ?? 0)}`],
    ["Available", bytes(host.available_memory ?? 0)],
    [
      "Swap",
      host.swap_total ? `${bytes(host.swap_used ?? 0)} of ${bytes(host.swap_total)}` : "none",
    ],
    [
      "Disk",
      info && info.disk_total > 0
        ? `${bytes(info.disk_available)} free of ${bytes(info.disk_total)}`
        : "–",
    ],
    ["Processes", String(host.process_count ?? "–")],
  ];
}

function daemonFacts({ daemon }: SystemMetrics, info?: SystemInfoJson): [string, string][] {
  return [
    ["Version", daemon?.version ?? "–"],
    ["Pid", String(daemon?.pid ?? "–")],
    ["Up", span((daemon?.uptime_seconds ?? 0) * 1000)],
    ["Memory", bytes(daemon?.memory_bytes ?? 0)],
    ["Home", info?.home ?? "–"],
    ["Socket", info?.socket ?? "–"],
    ["List saved", savedText(info)],
    [
      "Signed in as",
      session.value ? `${session.value.name || "dashboard"} (${session.value.role})` : "–",
    ],
  ];
}

function savedText(info: SystemInfoJson | undefined): string {
  if (info === undefined) return "–";
  return info.saved_at === null
    ? "never: procsup resurrect would restore nothing"
    : relative(Date.parse(info.saved_at), clock.value);
}

function FactPanel({ title, facts }: { title: string; facts: readonly [string, string][] }) {
  return (
    <section class="panel">
      <h2>{title}</h2>
      <Facts facts={facts} />
    </section>
  );
}

function Snippets({ home }: { home: string }) {
  const origin = `${location.origin}${BASE.slice(0, -1)}`;
  const token = `Authorization: Bearer $(cat ${home}/token)`;
  const snippets: readonly (readonly [string, string, string?])[] = [
    ["REST", `curl -H "${token}" ${origin}/api/v1/processes`],
    ["MCP for agents", "procsup mcp"],
    ["Check for problems", "procsup doctor"],
    ["OpenAPI", `${origin}/openapi.json`, "openapi.json"],
    ["Prometheus", `${origin}/metrics`, "metrics"],
  ];
  return (
    <section class="panel">
      <h2>For programs and terminals</h2>
      <Facts
        kind="snippets"
        facts={snippets.map(([title, text, href]) => [
          title,
          <div key={title} class="row between">
            {href ? <a href={href}>{text}</a> : <code>{text}</code>}
            <CopyButton label={`Copy: ${title}`} text={text} />
          </div>,
        ])}
      />
    </section>
  );
}
