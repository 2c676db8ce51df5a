/** The machine, the daemon, and how programs talk to it. */

import { run } from "../data/actions.ts";
import { send } from "../data/api.ts";
import { HOST, recent, round } from "../data/history.ts";
import { confirmed } from "../data/notices.ts";
import { connection, mayAdminister, mayOperate, metrics, session } from "../data/store.ts";
import type { SystemMetrics } from "../data/types.ts";
import { Button } from "../parts/button.tsx";
import { Chart, fitting } from "../parts/chart.tsx";
import { Loading } from "../parts/empty.tsx";
import { bytes, percent, span } from "../text/format.ts";

const SPAN_MS = 300_000;

/** The screen. */
export function Host() {
  round.value;
  const host = metrics.value;
  if (host === undefined) return <Loading />;
  const samples = recent(HOST, SPAN_MS);
  const common = { samples, ms: fitting(samples, SPAN_MS) };
  return (
    <>
      <div class="page-head">
        <h1>{host.hostname ?? "Host"}</h1>
        <DaemonActions />
      </div>
      <div class="charts three">
        <Chart {...common} title="CPU" value={({ cpu }) => cpu} format={percent} most={100} />
        <Chart
          {...common}
          title="Memory"
          value={({ memory }) => memory}
          format={bytes}
          most={host.total_memory ?? 1}
        />
        <Chart
          {...common}
          title="Load, 1 minute"
          value={({ load }) => load}
          format={(value) => value.toFixed(2)}
          most={host.cpu_count ?? 1}
        />
      </div>
      <div class="two">
        <Facts title="Machine" facts={machineFacts(host)} />
        <Facts title="Daemon" facts={daemonFacts(host)} />
      </div>
      <Snippets />
    </>
  );
}

function machineFacts(host: SystemMetrics): [string, string][] {
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
    ["Processes", String(host.process_count ?? "–")],
  ];
}

function daemonFacts({ daemon }: SystemMetrics): [string, string][] {
  return [
    ["Version", daemon?.version ?? "–"],
    ["Pid", String(daemon?.pid ?? "–")],
    ["Up", span((daemon?.uptime_seconds ?? 0) * 1000)],
    ["Memory", bytes(daemon?.memory_bytes ?? 0)],
    [
      "Signed in as",
      session.value ? `${session.value.name || "dashboard"} (${session.value.role})` : "–",
    ],
  ];
}

function Facts({ title, facts }: { title: string; facts: readonly [string, string][] }) {
  return (
    <section class="panel">
      <h2>{title}</h2>
      <dl class="facts">
        {facts.map(([name, text]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function DaemonActions() {
  const resurrect = async () => {
    const yes = await confirmed(
      "Bring back what was saved?",
      "Processes of the saved list that are not there are added and started.",
      "Bring back",
      false,
    );
    if (!yes) return;
    await run({ doing: "Bringing back", done: "What was saved is back" }, "/resurrect", {
      method: "POST",
    });
  };
  const save = () =>
    run({ doing: "Saving the list", done: "The list is saved" }, "/save", { method: "POST" });
  const leave = async () => {
    await send("/session", { method: "DELETE" }).catch(() => {});
    connection.value = "signed_out";
    location.reload();
  };
  return (
    <div class="row wrap head-actions">
      {mayOperate.value && <Button icon="save" onClick={save}>Save list</Button>}
      {mayAdminister.value && <Button icon="reload" onClick={resurrect}>Resurrect</Button>}
      <Button icon="leave" onClick={leave}>Sign out</Button>
    </div>
  );
}

function Snippets() {
  const { origin } = location;
  const token = "Authorization: Bearer $(cat ~/.procsup/token)";
  return (
    <section class="panel">
      <h2>For programs</h2>
      <dl class="snippets">
        <dt>REST</dt>
        <dd>
          <code>curl -H "{token}" {origin}/api/v1/processes</code>
        </dd>
        <dt>OpenAPI</dt>
        <dd>
          <a href="/openapi.json">{origin}/openapi.json</a>
        </dd>
        <dt>Prometheus</dt>
        <dd>
          <a href="/metrics">{origin}/metrics</a>
        </dd>
        <dt>MCP for agents</dt>
        <dd>
          <code>procsup mcp</code>
        </dd>
      </dl>
    </section>
  );
}
