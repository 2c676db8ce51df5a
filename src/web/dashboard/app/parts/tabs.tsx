/** A row of tabs. The panel they lead to has the id `panel`. */

import { useEffect } from "preact/hooks";

/** What it leads to. */
export interface TabsProps<T extends string> {
  readonly tabs: readonly T[];
  readonly chosen: T;
  readonly onChoose: (tab: T) => void;
}

/** The row; arrow keys move along it. */
export function Tabs<T extends string>({ tabs, chosen, onChoose }: TabsProps<T>) {
  // On a phone not all of them are in sight.
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
