/** The frame around every screen: navigation, connection, dialogs, toasts, list of keys. */

import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { retryNow } from "../data/feed.ts";
import { isPhone, nextTheme, theme } from "./settings.ts";
import { announcement, dismiss, type Toast, toasts } from "./notices.ts";
import { linkTo, screen } from "../data/router.ts";
import {
  connection,
  isStale,
  lastMessageAt,
  mayAdminister,
  metrics,
  processes,
  session,
} from "../data/store.ts";
import { Button } from "../controls/controls.tsx";
import { Dialog, QuestionDialog } from "../controls/dialogs.tsx";
import { Icon, Logo } from "../controls/icons.tsx";
import { Palette, paletteOpen, pathOf, SCREENS, shortcuts } from "./screens.tsx";
import { MachineMenu } from "../settings/machines.tsx";
import { ProcessDialogs } from "../process/process_menu.tsx";
import { clockTime } from "../data/format.ts";

export const helpOpen = signal(false);

export function Shell({ children }: { children: ComponentChildren }) {
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>Skip to content</a>
      {isPhone.value ? <PhoneBar /> : <SideBar />}
      <div class="column">
        <ConnectionBanner />
        <main id="main" tabIndex={-1} class={isStale.value ? "stale" : ""}>{children}</main>
      </div>
      <div class="unseen" role="status" aria-live="polite">{announcement}</div>
      <Toasts />
      <ProcessDialogs />
      <QuestionDialog />
      <Help />
      <Palette />
    </>
  );
}

/** Skips to the content without following the link: the address after # is the current place. */
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("main")!.focus();
}

function SideBar() {
  const { hostname, daemon } = metrics.value ?? {};
  return (
    <header class="side">
      <Brand />
      <nav aria-label="Screens">
        <Links />
      </nav>
      <div class="side-foot">
        <div class="row">
          <ThemeButton />
          <PaletteButton label="Go to… (Ctrl K)" />
          <Button icon="help" kind="quiet" label="Keys (?)" onClick={() => helpOpen.value = true} />
        </div>
        <MachineMenu name={hostname ?? "this machine"} />
        <RoleNote />
        {daemon?.version && <p class="faint">procsup {daemon.version}</p>}
      </div>
    </header>
  );
}

function Brand() {
  return (
    <a class="brand" href={linkTo([])} aria-label="procsup, timeline">
      <Logo />
      <span>procsup</span>
    </a>
  );
}

function ConnectionBanner() {
  if (connection.value === "foreign") return <ForeignBanner />;
  if (connection.value !== "lost") return null;
  const since = lastMessageAt.value;
  return (
    <div class="banner" role="alert">
      <Icon name="failed" />
      <span>
        No connection to the daemon
        {processes.value !== null && since > 0 &&
          <span>: shown as of {clockTime(since)}</span>}. Trying again…
      </span>
      <Button kind="quiet" onClick={retryNow}>Try now</Button>
    </div>
  );
}

function ForeignBanner() {
  return (
    <div class="banner" role="alert">
      <Icon name="failed" />
      <span>
        Another program answers at this address: it does not prove that it is the daemon that you
        signed in to. Do not reload this page, and enter no token here.{" "}
        <code>procsup web status</code> shows where the daemon listens.
      </span>
      <Button kind="quiet" onClick={retryNow}>Try now</Button>
    </div>
  );
}

function PhoneBar() {
  return (
    <>
      <header class="row between phone-top">
        <Brand />
        <MachineMenu name={metrics.value?.hostname ?? ""} />
        <span class="row">
          <PaletteButton label="Go to…" />
          <ThemeButton />
        </span>
      </header>
      <nav class="phone-bar" aria-label="Screens">
        <Links />
      </nav>
    </>
  );
}

/** The pages that belong to the processes. */
const OF_PROCESSES = ["process", "start", "apply"];

function Links() {
  const here = OF_PROCESSES.includes(screen.value) ? "processes" : screen.value;
  return (
    <ul>
      {SCREENS.map((entry) => (
        <li key={entry.name}>
          <a
            href={linkTo(pathOf(entry))}
            title={entry.text}
            aria-current={here === entry.name ? "page" : undefined}
          >
            <Icon name={entry.icon} size={18} />
            <span>{entry.text}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}

function PaletteButton({ label }: { label: string }) {
  const open = () => paletteOpen.value = true;
  return <Button icon="search" kind="quiet" label={label} onClick={open} />;
}

function ThemeButton() {
  const next = { auto: "light", light: "dark", dark: "like the system" }[theme.value];
  const label = `Theme, next: ${next} (t)`;
  return <Button icon={theme.value} kind="quiet" label={label} onClick={nextTheme} />;
}

/** Role and name; nothing for an admin. */
function RoleNote() {
  if (mayAdminister.value || session.value === undefined) return null;
  const { role, name } = session.value;
  return <p class="faint small">{role === "read" ? "Read only" : "Operator"}: {name}</p>;
}

function Toasts() {
  return (
    <div class="toasts" role="region" aria-label="Notifications">
      {toasts.value.map((one) => <ToastBox key={one.id} toast={one} />)}
    </div>
  );
}

function ToastBox({ toast }: { toast: Toast }) {
  const { id, kind, text, detail, action } = toast;
  return (
    <div class={`toast is-${kind}`} role={kind === "failed" ? "alert" : undefined}>
      {kind === "busy"
        ? <span class="spinner" aria-hidden="true" />
        : (
          <span class={kind === "done" ? "is-running" : "bad"}>
            <Icon name={kind} />
          </span>
        )}
      <div class="toast-text">
        <strong>{text}</strong>
        {detail && <p>{detail}</p>}
      </div>
      {action && (
        <Button kind="quiet" onClick={() => (dismiss(id), action.run())}>{action.label}</Button>
      )}
      <Button icon="close" kind="quiet" label="Dismiss" onClick={() => dismiss(id)} />
    </div>
  );
}

const groups = (): readonly (readonly [string, readonly (readonly [string, string])[]])[] => [
  ["Everywhere", [
    ["Ctrl K", "Go to a process or a screen"],
    ["/", "Search"],
    ...shortcuts().map(({ key, text }) => [`g ${key}`, text] as const),
    ["n", "New process"],
    ["t", "Light or dark"],
    ["?", "This list"],
  ]],
  ["Processes", [
    ["j / k", "Next, previous"],
    ["Enter", "Open"],
    ["x", "Select"],
    ["s", "Start"],
    ["S", "Stop (asks)"],
    ["r", "Restart (asks)"],
    ["R", "Reload (asks)"],
    ["l", "Its logs"],
    [".", "All actions"],
    ["Esc", "Select nothing"],
  ]],
  ["Logs", [
    ["f", "Follow or pause"],
    ["j / k", "Next, previous line"],
    ["Enter", "Details of the line"],
    ["n / N", "Next, previous match"],
    ["e", "Errors only"],
    ["w", "Wrap lines"],
    ["v", "Lines as written"],
  ]],
];

function Help() {
  if (!helpOpen.value) return null;
  return (
    <Dialog title="Keys" wide onClose={() => helpOpen.value = false}>
      <div class="key-groups">
        {groups().map(([title, keys]) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl class="keys">
              {keys.map(([key, what]) => (
                <div key={key}>
                  <dt>{key.split(" / ").map((one) => <kbd key={one}>{one}</kbd>)}</dt>
                  <dd>{what}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <p>
        <a href="docs" target="_blank">Documentation</a>
      </p>
    </Dialog>
  );
}
