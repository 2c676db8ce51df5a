/** The screens, in the order of the navigation, and the palette that goes to any place. */

import { signal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useState } from "preact/hooks";
import { Apply } from "../config/apply.tsx";
import { Empty, Loading, NotAllowed } from "../controls/controls.tsx";
import { Dialog } from "../controls/dialogs.tsx";
import type { IconName } from "../controls/icons.tsx";
import { go, place, screen } from "../data/router.ts";
import { mayAdminister, processes, processList } from "../data/store.ts";
import { type Condition, conditionOf } from "../../../../model/process_info.ts";
import { Graph } from "../graph/graph.tsx";
import { Jobs } from "../jobs/jobs.tsx";
import { Logs } from "../logs/log_view.tsx";
import { Compare } from "../process/compare.tsx";
import { StateShape } from "../process/process_figures.tsx";
import { Processes } from "../process/process_list.tsx";
import { Process } from "../process/process_page.tsx";
import { Start } from "../process/start.tsx";
import { SETTINGS, Settings, settingsPath } from "../settings/settings.tsx";
import { Timeline } from "../timeline/timeline.tsx";

/** A screen of the navigation. */
interface ScreenEntry {
  /** Its name, and first segment of its address except for the timeline. */
  readonly name: string;
  readonly Page: FunctionComponent;
  readonly icon: IconName;
  readonly text: string;
  /** The key that opens it, after `g`. */
  readonly key: string;
}

export const SCREENS: readonly ScreenEntry[] = [
  { name: "timeline", Page: Timeline, icon: "events", text: "Timeline", key: "t" },
  { name: "processes", Page: ProcessViews, icon: "processes", text: "Processes", key: "p" },
  { name: "logs", Page: Logs, icon: "logs", text: "Logs", key: "l" },
  { name: "jobs", Page: Jobs, icon: "jobs", text: "Jobs", key: "j" },
  { name: "settings", Page: Settings, icon: "settings", text: "Settings", key: "s" },
];

/** A page that the navigation does not lead to. */
interface Page {
  readonly name: string;
  readonly Page: FunctionComponent;
  /** What it does, if only the role `admin` may. */
  readonly guarded?: string;
}

const PAGES: readonly Page[] = [
  ...SCREENS,
  { name: "process", Page: () => <Process key={place.value.path[1]} /> },
  { name: "start", Page: Start, guarded: "Starting a new process" },
  { name: "apply", Page: Apply, guarded: "Applying a configuration" },
];

/** Another place to go to, and the key that leads to it after `g`. */
interface Shortcut {
  readonly text: string;
  readonly key: string;
  readonly path: readonly string[];
  readonly query?: string;
  readonly guarded?: true;
}

const SHORTCUTS: readonly Shortcut[] = [
  ...SCREENS.map((entry) => ({ text: entry.text, key: entry.key, path: pathOf(entry) })),
  { text: "Dependencies", key: "d", path: ["processes"], query: "view=graph" },
  { text: "Apply a configuration", key: "a", path: ["apply"], guarded: true },
  ...SETTINGS.map((part) => ({
    ...{ text: part.text, key: part.key, path: settingsPath(part) },
    ...part.guarded !== undefined && { guarded: true as const },
  })),
];

/** The places that the user may open. */
export function shortcuts(): readonly Shortcut[] {
  return SHORTCUTS.filter(({ guarded }) => guarded === undefined || mayAdminister.value);
}

export function pathOf({ name }: ScreenEntry): readonly string[] {
  return name === "timeline" ? [] : [name];
}

/** The processes: a table, a graph, or a comparison of some. */
function ProcessViews() {
  const view = place.value.params.get("view");
  return view === "graph" ? <Graph /> : view === "compare" ? <Compare /> : <Processes />;
}

export function Screen() {
  // Neither the role nor any process is known before the first answer.
  if (processes.value === null) return <Loading />;
  const found = PAGES.find(({ name }) => name === screen.value);
  if (found === undefined) {
    return <Empty title="Page not found" action={{ text: "Timeline", href: "#/" }} />;
  }
  const { Page, guarded } = found;
  if (guarded === undefined || mayAdminister.value) return <Page />;
  return <NotAllowed>{guarded}</NotAllowed>;
}

interface Goal {
  readonly text: string;
  readonly kind: string;
  readonly state?: Condition;
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
    ...shortcuts().map(({ key: _, guarded: __, ...goal }): Goal => ({ ...goal, kind: "screen" })),
    ...(mayAdminister.value ? [{ text: "New process", kind: "action", path: ["start"] }] : []),
    ...processList.value.map((process) => [process.name, conditionOf(process)] as const).flatMap(
      ([name, state]): Goal[] => [
        { text: name, kind: "process", state, path: ["processes", name] },
        {
          text: name,
          kind: "logs",
          state,
          path: ["logs"],
          query: String(new URLSearchParams({ t: name })),
        },
      ],
    ),
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
