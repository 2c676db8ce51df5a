/** The ways to the screens. */

import { linkTo, screen } from "../data/router.ts";
import { mayAdminister } from "../data/store.ts";
import { Icon, type IconName } from "./icon.tsx";

/** One of them. */
export interface Entry {
  readonly screen: string;
  readonly icon: IconName;
  readonly text: string;
}

const ENTRIES: readonly Entry[] = [
  { screen: "overview", icon: "overview", text: "Overview" },
  { screen: "processes", icon: "processes", text: "Processes" },
  { screen: "logs", icon: "logs", text: "Logs" },
  { screen: "events", icon: "events", text: "Events" },
  { screen: "graph", icon: "graph", text: "Graph" },
  { screen: "cron", icon: "cron", text: "Cron" },
  { screen: "webhooks", icon: "webhooks", text: "Webhooks" },
  { screen: "host", icon: "host", text: "Host" },
];

const APPLY: Entry = { screen: "apply", icon: "file", text: "Apply" };
/** All that one may go to. */
export function entries(): readonly Entry[] {
  return mayAdminister.value ? [...ENTRIES, APPLY] : ENTRIES;
}

/** A list of links. */
export function Links({ entries }: { entries: readonly Entry[] }) {
  const here = screen.value === "process" || screen.value === "start" ? "processes" : screen.value;
  return (
    <ul>
      {entries.map(({ screen, icon, text }) => (
        <li key={screen}>
          <a
            href={linkTo(screen === "overview" ? [] : [screen])}
            title={text}
            aria-current={here === screen ? "page" : undefined}
          >
            <Icon name={icon} size={18} />
            <span>{text}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}
