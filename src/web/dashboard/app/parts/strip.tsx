/** A row of small bars, one for each time something was done: how it went, the newest on the right. */

/** One bar. */
export interface StripBar {
  readonly ok: boolean;
  /** From 0 to 1: how high it is. */
  readonly size: number;
  /** Neither well nor badly: it was left out. */
  readonly skipped?: boolean;
  readonly title: string;
}

const [WIDTH, GAP, HEIGHT] = [7, 2, 28];

/** Drawn for the eye: a table says the same. What failed is also crossed, not only red. */
export function Strip({ bars, label }: { bars: readonly StripBar[]; label: string }) {
  const width = Math.max(1, bars.length) * (WIDTH + GAP) - GAP;
  return (
    <svg
      class="strip"
      width={width}
      height={HEIGHT}
      viewBox={`0 0 ${width} ${HEIGHT}`}
      role="img"
      aria-label={label}
    >
      {bars.map(({ ok, size, skipped, title }, index) => {
        const height = Math.max(4, Math.round(size * (HEIGHT - 2)));
        const x = index * (WIDTH + GAP);
        return (
          <g key={index} class={skipped ? "was-skipped" : ok ? "was-ok" : "was-bad"}>
            <title>{title}</title>
            <rect x={x} y={HEIGHT - height} width={WIDTH} height={height} rx="1.5" />
            {!ok && !skipped && <path d={`M${x + 1.5} ${HEIGHT - 6}l4 4m0-4l-4 4`} />}
          </g>
        );
      })}
    </svg>
  );
}
