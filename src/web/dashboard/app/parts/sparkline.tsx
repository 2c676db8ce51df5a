/** A minute of a figure as a small line. */

import type { Sample } from "../data/history.ts";

const [WIDTH, HEIGHT] = [64, 18];

/** How it is drawn. */
export interface SparklineProps {
  readonly samples: readonly Sample[];
  readonly value: (sample: Sample) => number;
  /** At the top; grows with what is shown. */
  readonly most: number;
  /** Milliseconds that it shows. */
  readonly ms?: number;
}

/** Drawn for the eye only: the figure stands beside it. */
export function Sparkline({ samples, value, most, ms = 60_000 }: SparklineProps) {
  const end = samples.at(-1)?.at ?? 0;
  const top = Math.max(most, ...samples.map(value)) || 1;
  const points = samples.map((sample) => {
    const x = WIDTH - (end - sample.at) / ms * WIDTH;
    const y = HEIGHT - 1 - value(sample) / top * (HEIGHT - 3);
    return `${x.toFixed(1)} ${y.toFixed(1)}`;
  });
  const line = points.length < 2 ? "" : `M${points.join("L")}`;
  const left = points[0]?.split(" ")[0] ?? "0";
  return (
    <svg
      class="spark"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {line && <path class="area" d={`${line}L${WIDTH} ${HEIGHT}L${left} ${HEIGHT}Z`} />}
      <path class="line" d={line} />
    </svg>
  );
}
