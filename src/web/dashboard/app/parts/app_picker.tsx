/** Which apps' logs are merged. */

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { isMeant } from "../data/select.ts";
import { processList } from "../data/store.ts";
import { Icon } from "./icon.tsx";
import { StateShape } from "./state_badge.tsx";
import { useAway } from "./use_away.ts";

/** A button that opens a list of apps to tick. */
export function AppPicker(
  { chosen, onChange }: {
    readonly chosen: readonly string[];
    readonly onChange: (chosen: string[]) => void;
  },
) {
  const open = useSignal(false);
  const search = useSignal("");
  const frame = useRef<HTMLDivElement>(null);
  useAway(frame, () => open.value = false);
  const found = processList.value.filter((process) => isMeant(search.value, process));
  const toggle = (name: string) =>
    onChange(chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name]);
  const text = chosen.length === 0
    ? "All apps"
    : chosen.length === 1
    ? chosen[0]!
    : `${chosen.length} apps`;
  return (
    <div
      class="picker"
      ref={frame}
      onKeyDown={(event) => {
        if (event.key === "Escape") open.value = false;
      }}
    >
      <button
        type="button"
        class="button"
        aria-expanded={open.value}
        onClick={() => open.value = !open.value}
      >
        <span class="clip">{text}</span>
        <Icon name="down" size={12} />
      </button>
      {open.value && (
        <div class="picker-list">
          <input
            type="search"
            aria-label="Find apps"
            placeholder="name, ns:web, tag:db"
            value={search}
            onInput={({ currentTarget }) => search.value = currentTarget.value}
          />
          <div class="row between">
            <button type="button" class="text-button" onClick={() => onChange([])}>All</button>
            <button
              type="button"
              class="text-button"
              onClick={() => onChange(found.map(({ name }) => name))}
            >
              These {found.length}
            </button>
          </div>
          <ul>
            {found.map(({ id, name, state }) => (
              <li key={id}>
                <label>
                  <input
                    type="checkbox"
                    checked={chosen.includes(name)}
                    onChange={() => toggle(name)}
                  />
                  <StateShape state={state} />
                  <span class="clip">{name}</span>
                </label>
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}
