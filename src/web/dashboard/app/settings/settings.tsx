/** The settings: this machine and its daemon, webhooks, and other machines. */

import type { FunctionComponent } from "preact";
import { NotAllowed } from "../controls/controls.tsx";
import { linkTo, place } from "../data/router.ts";
import { mayAdminister } from "../data/store.ts";
import { Host } from "../host/host.tsx";
import { Machines } from "./machines.tsx";
import { Webhooks } from "./webhooks.tsx";

interface Part {
  /** Second segment of its address; the first part has none. */
  readonly name: string;
  readonly text: string;
  /** The key that opens it, after `g`. */
  readonly key: string;
  readonly Page: FunctionComponent;
  /** What it does, if only the role `admin` may. */
  readonly guarded?: string;
}

export const SETTINGS: readonly Part[] = [
  { name: "host", text: "Host", key: "h", Page: Host },
  { name: "webhooks", text: "Webhooks", key: "w", Page: Webhooks },
  {
    ...{ name: "machines", text: "Machines", key: "m", Page: Machines },
    guarded: "Looking at other machines",
  },
];

export function Settings() {
  const chosen = SETTINGS.find(({ name }) => name === place.value.path[1]) ?? SETTINGS[0]!;
  const { Page, guarded } = chosen;
  return (
    <>
      <nav class="tabs" aria-label="Settings">
        {SETTINGS.map(({ name, text }, index) => (
          <a
            key={name}
            href={linkTo(["settings", ...(index === 0 ? [] : [name])])}
            aria-current={name === chosen.name ? "page" : undefined}
          >
            {text}
          </a>
        ))}
        <a href="docs" target="_blank">Documentation</a>
      </nav>
      {guarded === undefined || mayAdminister.value ? <Page /> : <NotAllowed>{guarded}</NotAllowed>}
    </>
  );
}
