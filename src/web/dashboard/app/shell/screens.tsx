/** The screens, in the order of the navigation, and the palette that goes to any of them. */

import { signal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useState } from "preact/hooks";
import { Apply } from "../config/apply.tsx";
import { Dialog, Empty, type IconName, Loading } from "../controls/controls.tsx";
import { Cron } from "../cron/cron.tsx";
import { go, place, screen } from "../data/router.ts";
import { mayAdminister, processes, processList } from "../data/store.ts";
import type { ProcessState } from "../../../../model/process_info.ts";
import { Events } from "../events/events.tsx";
import { Graph } from "../graph/graph.tsx";
import { Host } from "../host/host.tsx";
import { Logs } from "../logs/log_view.tsx";
import { Machines } from "../machines/machines.tsx";
import { Overview } from "../process/overview.tsx";
import { StateShape } from "../process/process_figures.tsx";
import { Processes } from "../process/process_list.tsx";
import { Process } from "../process/process_page.tsx";
import { Start } from "../process/start.tsx";
import { Webhooks } from "../webhooks/webhooks.tsx";

interface Page {
  /** Its name, and first segment of its address except for the overview. */
  readonly name: string;
  readonly Page: FunctionComponent;
  /** What it does, if only the role `admin` may. */
  readonly guarded?: string;
}

export interface ScreenEntry extends Page {
  readonly icon: IconName;
  readonly text: string;
  /** The key that opens it, after `g`. */
  readonly key: string;
  /** Description of the key, if the text is too short. */
  readonly about?: string;
}

export const SCREENS: readonly ScreenEntry[] = [
  { name: "overview", Page: Overview, icon: "overview", text: "Overview", key: "o" },
  { name: "processes", Page: Processes, icon: "processes", text: "Processes", key: "p" },
  { name: "logs", Page: Logs, icon: "logs", text: "Logs", key: "l" },
  { name: "events", Page: Events, icon: "events", text: "Events", key: "e" },
  { name: "graph", Page: Graph, icon: "graph", text: "Graph", key: "g" },
  { name: "cron", Page: Cron, icon: "cron", text: "Cron", key: "c" },
  { name: "webhooks", Page: Webhooks, icon: "webhooks", text: "Webhooks", key: "w" },
  { name: "host", Page: Host, icon: "host", text: "Host", key: "h" },
  {
    ...{ name: "machines", Page: Machines, icon: "machines", text: "Machines", key: "m" },
    about: "Apps of this and other machines",
    guarded: "Looking at other machines",
  },
  {
    ...{ name: "apply", Page: Apply, icon: "file", text: "Apply", key: "a" },
    about: "Apply a configuration",
    guarded: "Applying a configuration",
  },
];

/** The pages that the navigation does not lead to. */
const PAGES: readonly Page[] = [
  { name: "process", Page: () => <Process key={place.value.path[1]} /> },
  { name: "start", Page: Start, guarded: "Starting a new process" },
];

/** Screens that the user may open. */
export function openScreens(): readonly ScreenEntry[] {
  return SCREENS.filter(({ guarded }) => guarded === undefined || mayAdminister.value);
}

export function pathOf({ name }: ScreenEntry): readonly string[] {
  return name === "overview" ? [] : [name];
}

export function Screen() {
  // Neither the role nor any process is known before the first answer.
  if (processes.value === null) return <Loading />;
  const found = [...SCREENS, ...PAGES].find(({ name }) => name === screen.value);
  if (found === undefined) {
    return <Empty title="Page not found" action={{ text: "Overview", href: "#/" }} />;
  }
  const { Page, guarded } = found;
  if (guarded === undefined || mayAdminister.value) return <Page />;
  return <Empty title="Not allowed">{guarded} needs the role admin.</Empty>;
}

interface Goal {
  readonly text: string;
  readonly kind: string;
  readonly state?: ProcessState;
  readonly path: readonly string[];
  readonly query?: string;
}

const MOST = 12;

export const paletteOpen = signal(false);

/** The palette, if it is open: goes anywhere by a few letters. */
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
