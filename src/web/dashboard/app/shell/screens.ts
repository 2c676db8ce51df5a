/** The screens that the navigation leads to, in its order. */

import { mayAdminister } from "../data/store.ts";
import type { IconName } from "../controls/controls.tsx";

export interface ScreenEntry {
  /** Its name, and first segment of its address except for the overview. */
  readonly name: string;
  readonly icon: IconName;
  readonly text: string;
  /** The key that opens it, after `g`. */
  readonly key: string;
  /** Description of the key, if the text is too short. */
  readonly about?: string;
  /** True if only the role `admin` may open it. */
  readonly isGuarded?: true;
}

export const SCREENS: readonly ScreenEntry[] = [
  { name: "overview", icon: "overview", text: "Overview", key: "o" },
  { name: "processes", icon: "processes", text: "Processes", key: "p" },
  { name: "logs", icon: "logs", text: "Logs", key: "l" },
  { name: "events", icon: "events", text: "Events", key: "e" },
  { name: "graph", icon: "graph", text: "Graph", key: "g" },
  { name: "cron", icon: "cron", text: "Cron", key: "c" },
  { name: "webhooks", icon: "webhooks", text: "Webhooks", key: "w" },
  { name: "host", icon: "host", text: "Host", key: "h" },
  {
    ...{ name: "machines", icon: "machines", text: "Machines", key: "m" },
    about: "Apps of this and other machines",
    isGuarded: true,
  },
  {
    ...{ name: "apply", icon: "file", text: "Apply", key: "a" },
    about: "Apply a configuration",
    isGuarded: true,
  },
];

/** Screens that the user may open. */
export function openScreens(): readonly ScreenEntry[] {
  return SCREENS.filter(({ isGuarded }) => !isGuarded || mayAdminister.value);
}

export function pathOf({ name }: ScreenEntry): readonly string[] {
  return name === "overview" ? [] : [name];
}
