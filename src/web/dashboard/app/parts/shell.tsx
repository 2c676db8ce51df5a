/** The frame around every screen: navigation, the state of the connection, and what floats above. */

import type { ComponentChildren } from "preact";
import { retryNow } from "../data/feed.ts";
import { announcement } from "../data/notices.ts";
import { isPhone } from "../data/media.ts";
import { linkTo } from "../data/router.ts";
import { clock, connection, lastMessageAt, metrics, processes } from "../data/store.ts";
import { relative } from "../text/format.ts";
import { Button } from "./button.tsx";
import { QuestionDialog } from "./dialog.tsx";
import { Icon } from "./icon.tsx";
import { Logo } from "./logo.tsx";
import { helpOpen, paletteOpen } from "./overlays.ts";
import { ProcessDialogs } from "./process_dialogs.tsx";
import { ProcessMenu } from "./process_menu.tsx";
import { PhoneBar } from "./phone_bar.tsx";
import { RoleNote } from "./role_note.tsx";
import { entries, Links } from "./screen_links.tsx";
import { ThemeButton } from "./theme_button.tsx";
import { Toasts } from "./toasts.tsx";

/** The frame. */
export function Shell({ children }: { children: ComponentChildren }) {
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>Skip to content</a>
      {isPhone.value ? <PhoneBar /> : <SideBar />}
      <div class="column">
        <ConnectionBanner />
        <main id="main" tabIndex={-1}>{children}</main>
      </div>
      <div class="unseen" role="status" aria-live="polite">{announcement}</div>
      <Toasts />
      <ProcessMenu />
      <ProcessDialogs />
      <QuestionDialog />
    </>
  );
}

/** The part after # is ours to tell where one is: the link must not change it. */
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("main")!.focus();
}

function SideBar() {
  const { hostname, daemon } = metrics.value ?? {};
  return (
    <header class="side">
      <a class="brand" href={linkTo([])} aria-label="procsup, overview">
        <Logo />
        <span>procsup</span>
      </a>
      <nav aria-label="Screens">
        <Links entries={entries()} />
      </nav>
      <div class="side-foot">
        <div class="row">
          <ThemeButton />
          <Button
            icon="search"
            kind="quiet"
            label="Go to… (Ctrl K)"
            onClick={() => paletteOpen.value = true}
          />
          <Button icon="help" kind="quiet" label="Keys (?)" onClick={() => helpOpen.value = true} />
        </div>
        <p class="side-host" title={hostname}>
          <span class={`dot is-${connection.value}`} aria-hidden="true" />
          <span class="clip">{hostname ?? "this machine"}</span>
        </p>
        <RoleNote />
        {daemon?.version && <p class="faint">procsup {daemon.version}</p>}
      </div>
    </header>
  );
}

function ConnectionBanner() {
  if (connection.value !== "lost") return null;
  const since = lastMessageAt.value;
  return (
    <div class="banner" role="alert">
      <Icon name="failed" />
      <span>
        No connection to the daemon
        {processes.value !== null && since > 0 &&
          <span>: what you see is from {relative(since, clock.value)}</span>}. Trying again…
      </span>
      <Button kind="quiet" onClick={retryNow}>Try now</Button>
    </div>
  );
}
