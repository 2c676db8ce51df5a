/** Formats figures as a Markdown table. */

/** Repeated measurements of one figure. */
export type Sample = readonly number[];

export interface Row {
  readonly figure: string;
  readonly unit: "ms" | "MB" | "%";
  readonly procsup: Sample;
  readonly pm2: Sample;
  /** The least that it could be: without a supervisor, or of an empty Deno program. */
  readonly bare?: Sample;
  /** Goal of procsup: a value, or a factor of PM2 or of `bare`. */
  readonly goal?: number | { readonly factor: number; readonly of: "pm2" | "bare" };
}

export function median(sample: Sample): number {
  const sorted = sample.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Whether the goal is reached; undefined if the row has none. */
export function reached({ goal, ...samples }: Row): boolean | undefined {
  if (goal === undefined) return undefined;
  const most = typeof goal === "number" ? goal : median(samples[goal.of]!) * goal.factor;
  return median(samples.procsup) <= most;
}

const HEADINGS = ["", "procsup", "PM2", "bare", "procsup / PM2", "procsup / bare", "goal"];

/** Formats the rows as Markdown: medians, with minimum and maximum if there are several measurements. */
export function markdownTable(rows: readonly Row[]): string {
  const lines = [
    HEADINGS,
    HEADINGS.map((_, index) => index === 0 ? ":--" : "--:"),
    ...rows.map(cells),
  ];
  return lines.map((line) => `| ${line.join(" | ")} |`).join("\n");
}

function cells(row: Row): string[] {
  const { figure, unit, procsup, pm2, bare } = row;
  const text = (sample: Sample | undefined) => sample === undefined ? "" : sampleText(sample, unit);
  const ratio = (to: Sample | undefined) =>
    to === undefined ? "" : (median(procsup) / median(to)).toFixed(2);
  return [figure, text(procsup), text(pm2), text(bare), ratio(pm2), ratio(bare), goalText(row)];
}

function goalText(row: Row): string {
  const { goal, unit } = row;
  if (goal === undefined) return "";
  const most = typeof goal === "number"
    ? `${goal} ${unit}`
    : `${goal.factor} × ${goal.of === "pm2" ? "PM2" : "bare"}`;
  return `≤ ${most} ${reached(row) ? "✔" : "✘"}`;
}

function sampleText(sample: Sample, unit: string): string {
  const middle = `${short(median(sample))} ${unit}`;
  if (sample.length === 1) return middle;
  return `${middle} (${short(Math.min(...sample))}–${short(Math.max(...sample))})`;
}

function short(value: number): string {
  return value.toFixed(value >= 100 ? 0 : value < 1 ? 2 : 1);
}
