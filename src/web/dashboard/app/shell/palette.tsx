/** The command palette: goes anywhere by a few letters. */

import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { go } from "../data/router.ts";
import { mayAdminister, processList } from "../data/store.ts";
import type { State } from "../data/types.ts";
import { Dialog } from "../controls/controls.tsx";
import { openScreens, pathOf } from "./screens.ts";
import { StateShape } from "../process/process_figures.tsx";

interface Goal {
  readonly text: string;
  readonly kind: string;
  readonly state?: State;
  readonly path: readonly string[];
  readonly query?: string;
}

const MOST = 12;

/** True while the palette is open. */
export const paletteOpen = signal(false);

/** The window, if it is open. */
export function Palette() {
  return paletteOpen.value ? <OpenPalette /> : null;
}

function OpenPalette() {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const goals = found(text);
  const chosen = Math.min(at, goals.length - 1);
  const close = () => paletteOpen.value = false;
  const take = ({ path, query }: Goal) => (close(), go(path, query));
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setAt(Math.max(0, Math.min(goals.length - 1, chosen + step)));
    else if (event.key === "Enter" && goals[chosen]) take(goals[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Go to" onClose={close}>
      <input
        type="text"
        role="combobox"
        aria-label="Process or screen"
        aria-expanded="true"
        aria-controls="goals"
        aria-activedescendant={chosen < 0 ? undefined : `goal-${chosen}`}
        placeholder="Process or screen"
        value={text}
        onInput={(event) => (setText(event.currentTarget.value), setAt(0))}
        onKeyDown={onKey}
      />
      <ul class="goals" id="goals" role="listbox" aria-label="Results">
        {goals.map((goal, index) => (
          <li
            key={`${goal.kind} ${goal.text}`}
            id={`goal-${index}`}
            role="option"
            aria-selected={index === chosen}
            onClick={() => take(goal)}
          >
            {goal.state && <StateShape state={goal.state} />}
            <span class="clip">{goal.text}</span>
            <span class="faint">{goal.kind}</span>
          </li>
        ))}
      </ul>
      {goals.length === 0 && <p class="faint">Nothing by that name</p>}
    </Dialog>
  );
}

function found(text: string): Goal[] {
  const goals: Goal[] = [
    ...openScreens().map((screen): Goal => ({
      text: screen.about ?? screen.text,
      kind: "screen",
      path: pathOf(screen),
    })),
    ...(mayAdminister.value ? [{ text: "New process", kind: "action", path: ["start"] }] : []),
    ...processList.value.flatMap(({ name, state }): Goal[] => [
      { text: name, kind: "process", state, path: ["processes", name] },
      {
        text: name,
        kind: "logs",
        state,
        path: ["logs"],
        query: String(new URLSearchParams({ t: name })),
      },
    ]),
  ];
  return goals.map((goal) => ({ goal, score: score(text.toLowerCase(), goal.text.toLowerCase()) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, MOST)
    .map(({ goal }) => goal);
}

/** How well letters match a name, in their order; 0 for no match. */
function score(letters: string, name: string): number {
  if (name.startsWith(letters)) return 3;
  if (name.includes(letters)) return 2;
  let from = 0;
  for (const letter of letters) {
    from = name.indexOf(letter, from) + 1;
    if (from === 0) return 0;
  }
  return 1;
}
