/** The frame around every screen: navigation, the state of the connection, and what floats above. */

import type { ComponentChildren } from "preact";
import { retryNow } from "../data/feed.ts";
import { announcement } from "../data/notices.ts";
import { isPhone } from "../data/media.ts";
import { linkTo, screen } from "../data/router.ts";
import { clock, connection, lastMessageAt, metrics, processes } from "../data/store.ts";
import { nextTheme, theme } from "../data/theme.ts";
import { relative } from "../text/format.ts";
import { Button } from "./button.tsx";
import { QuestionDialog } from "./dialog.tsx";
import { Icon, type IconName } from "./icon.tsx";
import { helpOpen, paletteOpen } from "./overlays.ts";
import { Toasts } from "./toasts.tsx";

interface Entry {
  readonly screen: string;
  readonly icon: IconName;
  readonly text: string;
}

const ENTRIES: readonly Entry[] = [
  { screen: "overview", icon: "overview", text: "Overview" },
  { screen: "processes", icon: "processes", text: "Processes" },
  { screen: "logs", icon: "logs", text: "Logs" },
  { screen: "graph", icon: "graph", text: "Graph" },
  { screen: "cron", icon: "cron", text: "Cron" },
  { screen: "host", icon: "host", text: "Host" },
];

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
      <QuestionDialog />
    </>
  );
}

/** The part after # is ours to tell where one is: the link must not change it. */
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("main")!.focus();
}

function Links({ entries }: { entries: readonly Entry[] }) {
  const here = screen.value === "process" || screen.value === "start" ? "processes" : screen.value;
  return (
    <ul>
      {entries.map(({ screen, icon, text }) => (
        <li key={screen}>
          <a
            href={linkTo(screen === "overview" ? [] : [screen])}
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

function SideBar() {
  const { hostname, daemon } = metrics.value ?? {};
  return (
    <header class="side">
      <a class="brand" href={linkTo([])} aria-label="procsup, overview">
        <Logo />
        <span>procsup</span>
      </a>
      <nav aria-label="Screens">
        <Links entries={ENTRIES} />
      </nav>
      <div class="side-foot">
        <div class="row">
          <ThemeButton />
          <Button icon="search" kind="quiet" label="Go to… (Ctrl K)" onClick={openPalette} />
          <Button icon="help" kind="quiet" label="Keys (?)" onClick={openHelp} />
        </div>
        <p class="side-host" title={hostname}>
          <span class={`dot is-${connection.value}`} aria-hidden="true" />
          <span class="clip">{hostname ?? "this machine"}</span>
        </p>
        {daemon?.version && <p class="faint">procsup {daemon.version}</p>}
      </div>
    </header>
  );
}

function PhoneBar() {
  return (
    <>
      <header class="phone-top">
        <a class="brand" href={linkTo([])} aria-label="procsup, overview">
          <Logo />
          <span>procsup</span>
        </a>
        <span class="row">
          <Button icon="search" kind="quiet" label="Go to…" onClick={openPalette} />
          <ThemeButton />
        </span>
      </header>
      <nav class="phone-bar" aria-label="Screens">
        <Links entries={ENTRIES} />
      </nav>
    </>
  );
}

function Logo() {
  return (
    <svg class="logo" width="26" height="26" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path d="M7 17h4l3-8 5 14 3-6h3" />
    </svg>
  );
}

function ThemeButton() {
  const next = { auto: "light", light: "dark", dark: "as the system" }[theme.value];
  return (
    <Button
      icon={theme.value}
      kind="quiet"
      label={`Theme, next: ${next} (t)`}
      onClick={nextTheme}
    />
  );
}

function openPalette(): void {
  paletteOpen.value = true;
}

function openHelp(): void {
  helpOpen.value = true;
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
