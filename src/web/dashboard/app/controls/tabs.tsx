/** A row of tabs. Their panel has the id `panel`. */

import { useEffect } from "preact/hooks";

interface TabsProps<T extends string> {
  readonly tabs: readonly T[];
  readonly chosen: T;
  readonly onChoose: (tab: T) => void;
}

/** The row; arrow keys move along it. */
export function Tabs<T extends string>({ tabs, chosen, onChoose }: TabsProps<T>) {
  // On a phone the tab may be out of view.
  useEffect(() => {
    document.getElementById(`tab-${chosen}`)?.scrollIntoView({
      block: "nearest",
      inline: "nearest",
    });
  }, [chosen]);
  const open = (next: T) => {
    onChoose(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <div
      class="tabs"
      role="tablist"
      aria-label="Parts"
      onKeyDown={(event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        const index = tabs.indexOf(chosen);
        if (step === undefined) return;
        event.preventDefault();
        open(tabs[(index + step + tabs.length) % tabs.length]!);
      }}
    >
      {tabs.map((one) => (
        <button
          key={one}
          id={`tab-${one}`}
          type="button"
          role="tab"
          aria-selected={one === chosen}
          aria-controls="panel"
          tabIndex={one === chosen ? 0 : -1}
          onClick={() => open(one)}
        >
          {one}
        </button>
      ))}
    </div>
  );
}

interface StripBar {
  readonly ok: boolean;
  /** Height, from 0 to 1. */
  readonly size: number;
  /** True for a skipped run, which neither succeeded nor failed. */
  readonly skipped?: boolean;
  readonly title: string;
}

const [WIDTH, GAP, HEIGHT] = [7, 2, 28];

/** A visual summary of a table. Failures are red and crossed out. */
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
