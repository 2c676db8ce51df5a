/** The frame of a phone: a bar at the top and one at the bottom. */

import { useRef } from "preact/hooks";
import { linkTo, screen } from "../data/router.ts";
import { Button } from "./button.tsx";
import { signOut } from "./daemon_actions.tsx";
import { Icon } from "./icon.tsx";
import { Logo } from "./logo.tsx";
import { paletteOpen } from "./overlays.ts";
import { RoleNote } from "./role_note.tsx";
import { entries, Links } from "./screen_links.tsx";
import { ThemeButton } from "./theme_button.tsx";
import { useAway } from "./use_away.ts";

/** So many fit, with one more for the rest. */
const SHOWN = 4;

/** Both bars. */
export function PhoneBar() {
  return (
    <>
      <header class="phone-top">
        <a class="brand" href={linkTo([])} aria-label="procsup, overview">
          <Logo />
          <span>procsup</span>
        </a>
        <span class="row">
          <Button
            icon="search"
            kind="quiet"
            label="Go to…"
            onClick={() => paletteOpen.value = true}
          />
          <ThemeButton />
        </span>
      </header>
      <nav class="phone-bar" aria-label="Screens">
        <Links entries={entries().slice(0, SHOWN)} />
        <PhoneMore />
      </nav>
    </>
  );
}

function PhoneMore() {
  const rest = entries().slice(SHOWN);
  const isHere = rest.some((entry) => entry.screen === screen.value);
  const sheet = useRef<HTMLDetailsElement>(null);
  useAway(sheet, () => sheet.current!.open = false);
  return (
    <details
      ref={sheet}
      class={`phone-more${isHere ? " is-here" : ""}`}
      onClick={({ target, currentTarget }) => {
        if ((target as Element).closest("a, button")) currentTarget.open = false;
      }}
      onKeyDown={({ key, currentTarget }) => {
        if (key !== "Escape" || !currentTarget.open) return;
        currentTarget.open = false;
        currentTarget.querySelector("summary")!.focus();
      }}
    >
      <summary>
        <Icon name="more" size={18} />
        <span>More</span>
      </summary>
      <div class="phone-sheet">
        <Links entries={rest} />
        <Button icon="leave" kind="quiet" onClick={() => void signOut()}>Sign out</Button>
        <RoleNote />
      </div>
    </details>
  );
}
