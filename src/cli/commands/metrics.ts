/** `procsup metrics`: usage of apps or the host over time. */

import { plainText } from "../../model/plain_text.ts";
import type {
  MetricsHistoryJson,
  MetricsPointJson,
  MetricsSeriesJson,
} from "../../protocol/wire.ts";
import { type Column, printTable, right } from "../columns.ts";
import type { CommandContext } from "../command.ts";
import { connect } from "../connect.ts";
import { clockTime, humanDuration } from "../human.ts";
import { humanBytes } from "../../model/size.ts";
import { type Output, printData } from "../output.ts";
import { sparkline } from "../top/text.ts";

/** Default number of points: fits on a screen. */
const POINTS = 30;

/** Prints sparklines, and the points of a single app as a table. */
export async function metrics(context: CommandContext): Promise<void> {
  const { output, flags, positionals: [target] } = context;
  const history = await connect(context).call("metrics_history", {
    target,
    since: flags.text("since"),
    until: flags.text("until"),
    points: flags.int("points") ?? (output.isForPeople ? POINTS : undefined),
  });
  const names = history.series.map(({ name }) => name ?? "host");
  if (await printData(output, history, names)) return;
  const found = history.series.filter(({ points }) => points.length > 0);
  if (found.length === 0) return output.note("no metrics in that time");
  for (const [index, series] of found.entries()) {
    if (index > 0) output.data("");
    printSparklines(output, history, series);
  }
  if (found.length > 1) return;
  output.data("");
  const [{ name, points: rows }] = found as [MetricsSeriesJson];
  const columns = name === null ? HOST_COLUMNS : PROCESS_COLUMNS;
  printTable(output, columns, rows);
}

function printSparklines(
  output: Output,
  { since, until, step }: MetricsHistoryJson,
  { name, points }: MetricsSeriesJson,
): void {
  const stepMs = step / 1e6;
  const range = `${clockTime(since)} to ${clockTime(until)}, every ${humanDuration(stepMs)}`;
  output.data(`${plainText(name ?? "host")}  ${range}`);
  const begin = Date.parse(since);
  const width = Math.max(1, Math.ceil((Date.parse(until) - begin) / stepMs));
  const line = (label: string, key: "cpu_percent" | "memory_bytes", text: Text) => {
    // Steps without a measurement stay blank, so every measured value is above 0.
    const values = Array<number>(width).fill(0);
    for (const point of points) {
      const known = point[key];
      if (known != null) values[(Date.parse(point.at) - begin) / stepMs] = Math.max(known, 1e-9);
    }
    const known = points.map((point) => point[key]).filter((figure) => figure != null);
    if (known.length === 0) return;
    const mean = known.reduce((sum, figure) => sum + figure, 0) / known.length;
    const top = Math.max(...points.map((point) => point[`${key}_max`] ?? 0));
    const drawn = sparkline(values, width, Math.max(1, ...known));
    output.data(`${label}  ${drawn}  mean ${text(mean)}, highest ${text(top)}`);
  };
  line("cpu", "cpu_percent", percent);
  line("mem", "memory_bytes", humanBytes);
}

function percent(value: number): string {
  return `${value.toFixed(1)}%`;
}

type PointColumn = Column<MetricsPointJson>;
type Text = (value: number) => string;

function column(
  header: string,
  priority: number,
  key: Exclude<keyof MetricsPointJson, "at">,
  text: Text,
): PointColumn {
  return right(header, priority, ({ [key]: value }) => value == null ? "-" : text(value));
}

const share = (value: number) => `${Math.floor(value * 1000) / 10}%`;

const COMMON: readonly PointColumn[] = [
  { header: "TIME", priority: 0, value: ({ at }) => clockTime(at) },
  column("CPU", 0, "cpu_percent", percent),
  column("CPU MAX", 1, "cpu_percent_max", percent),
  column("MEM", 0, "memory_bytes", humanBytes),
  column("MEM MAX", 2, "memory_bytes_max", humanBytes),
];

const HOST_COLUMNS: readonly PointColumn[] = [
  ...COMMON,
  column("LOAD", 3, "load", (value) => value.toFixed(2)),
];

const PROCESS_COLUMNS: readonly PointColumn[] = [
  ...COMMON,
  column("RESTARTS", 1, "restarts", String),
  column("UP", 3, "up", share),
  column("HEALTHY", 2, "healthy", share),
  column("UPTIME", 4, "uptime", (value) => humanDuration(value / 1e6)),
];
