/** The settings: this machine and its daemon, webhooks, tokens, and other machines. */

import type { FunctionComponent } from "preact";
import { NotAllowed } from "../controls/controls.tsx";
import { linkTo, place } from "../data/router.ts";
import { mayAdminister } from "../data/store.ts";
import { Host } from "../host/host.tsx";
import { Machines } from "./machines.tsx";
import { Tokens } from "./tokens.tsx";
import { Webhooks } from "./webhooks.tsx";

interface Part {
  /** Second segment of its address; see `settingsPath()`. */
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
    ...{ name: "tokens", text: "Tokens", key: "k", Page: Tokens },
    guarded: "Creating and revoking tokens",
  },
  {
    ...{ name: "machines", text: "Machines", key: "m", Page: Machines },
    guarded: "Looking at other machines",
  },
];

/** The path of a part. The first one has no segment of its own. */
export function settingsPath({ name }: Part): readonly string[] {
  return name === SETTINGS[0]!.name ? ["settings"] : ["settings", name];
}

export function Settings() {
  const chosen = SETTINGS.find(({ name }) => name === place.value.path[1]) ?? SETTINGS[0]!;
  const { Page, guarded } = chosen;
  return (
    <>
      <nav class="tabs" aria-label="Settings">
        {SETTINGS.map((part) => (
          <a
            key={part.name}
            href={linkTo(settingsPath(part))}
            aria-current={part === chosen ? "page" : undefined}
          >
            {part.text}
          </a>
        ))}
        <a href="docs" target="_blank">Documentation</a>
      </nav>
      {guarded === undefined || mayAdminister.value ? <Page /> : <NotAllowed>{guarded}</NotAllowed>}
    </>
  );
}
