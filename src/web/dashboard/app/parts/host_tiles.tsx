/** The machine and the daemon at a glance. */

import { HOST, recent, round, type Sample } from "../data/history.ts";
import { usePolled } from "../data/polled.ts";
import { metrics } from "../data/store.ts";
import type { SystemInfoJson, SystemMetrics } from "../data/types.ts";
import { bytes, counted, percent, span } from "../text/format.ts";
import { Meter } from "./meter.tsx";
import { Sparkline } from "./sparkline.tsx";

const HOUR_MS = 3_600_000;

/** The tiles. */
export function HostTiles() {
  round.value;
  const host = metrics.value;
  if (host === undefined) return null;
  const { total_memory = 0, used_memory = 0, cpu_count = 1, cpu_percent = 0 } = host;
  const samples = recent(HOST, 60_000);
  const used = total_memory === 0 ? "" : `of ${bytes(total_memory)}`;
  return (
    <section class="tiles" aria-label="Host">
      <Tile
        title="CPU"
        text={percent(cpu_percent)}
        more={`of ${counted(cpu_count, "core")}`}
        samples={samples}
        value={({ cpu }) => cpu}
        most={100}
      />
      <Tile
        title="Memory"
        text={bytes(used_memory)}
        more={used}
        samples={samples}
        value={({ memory }) => memory}
        most={total_memory}
      />
      <Tile
        title="Load"
        text={(host.cpu_load_1 ?? 0).toFixed(2)}
        more={`· ${(host.cpu_load_5 ?? 0).toFixed(2)} · ${(host.cpu_load_15 ?? 0).toFixed(2)}`}
        samples={samples}
        value={({ load }) => load}
        most={cpu_count}
      />
      <DiskTile />
      <RestartTile {...host} />
    </section>
  );
}

function DiskTile() {
  const { data } = usePolled<SystemInfoJson>("/system/info", 30_000);
  const { disk_total = 0, disk_available = 0 } = data.value ?? {};
  if (disk_total === 0) return null;
  const used = (disk_total - disk_available) / disk_total * 100;
  return (
    <Tile
      title="Disk, free"
      text={bytes(disk_available)}
      more={`of ${bytes(disk_total)}`}
      level={used}
    />
  );
}

/** A daemon knows of those alone that it was there for. */
function RestartTile({ daemon = {} }: SystemMetrics) {
  const { restarts_last_hour = 0, uptime_seconds = 0 } = daemon;
  const ms = uptime_seconds * 1000;
  const since = ms < HOUR_MS ? span(ms).split(" ")[0] : "hour";
  return <Tile title={`Restarts, last ${since}`} text={String(restarts_last_hour)} more="" />;
}

function Tile({ title, text, more, samples, value, most = 1, level }: {
  readonly title: string;
  readonly text: string;
  readonly more: string;
  readonly samples?: readonly Sample[];
  readonly value?: (sample: Sample) => number;
  readonly most?: number;
  /** Percent that are used up. */
  readonly level?: number;
}) {
  return (
    <div class="tile">
      <span class="faint small tile-text">
        {title} {more}
      </span>
      <span class="row between">
        <strong class="number">{text}</strong>
        {level !== undefined && <Meter percent={level} />}
        {samples && value && <Sparkline samples={samples} value={value} most={most} />}
      </span>
    </div>
  );
}
