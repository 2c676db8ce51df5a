/** Formats figures as a Markdown table. */

/** Repeated measurements of one figure. */
export type Sample = readonly number[];

export interface Row {
  readonly figure: string;
  readonly unit: "ms" | "MB";
  readonly procsup: Sample;
  readonly pm2: Sample;
  /** The figure without a supervisor, where that makes sense. */
  readonly bare?: Sample;
  /** Goal of procsup, as a factor of PM2 or of `bare`. */
  readonly goal?: { readonly factor: number; readonly of: "pm2" | "bare" };
}

export function median(sample: Sample): number {
  const sorted = sample.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Whether the goal is reached; undefined if the row has none. */
export function reached({ goal, ...samples }: Row): boolean | undefined {
  if (goal === undefined) return undefined;
  return median(samples.procsup) <= median(samples[goal.of]!) * goal.factor;
}

const HEADINGS = ["", "procsup", "PM2", "no supervisor", "procsup / PM2", "goal"];

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
  const ratio = (median(procsup) / median(pm2)).toFixed(2);
  return [figure, text(procsup), text(pm2), text(bare), ratio, goalText(row)];
}

function goalText(row: Row): string {
  if (row.goal === undefined) return "";
  const { factor, of } = row.goal;
  const of_ = of === "pm2" ? "" : " of none";
  return `≤ ${Number(factor.toFixed(3))}${of_} ${reached(row) ? "✔" : "✘"}`;
}

function sampleText(sample: Sample, unit: string): string {
  const middle = `${short(median(sample))} ${unit}`;
  if (sample.length === 1) return middle;
  return `${middle} (${short(Math.min(...sample))}–${short(Math.max(...sample))})`;
}

function short(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(1);
}
