/** The menu of all actions on a process or an app, beside the button that opened it. */

import { baseName } from "../../../../model/name.ts";
import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { act, type Verb } from "./actions.ts";
import { go, linkTo } from "../data/router.ts";
import { isStarted } from "./select.ts";
import { mayAdminister, mayOperate, processesOf } from "../data/store.ts";
import type { ProcessJson } from "../data/types.ts";
import { Button, Icon, type IconName, stepThrough } from "../controls/controls.tsx";
import { processDialog } from "./process_dialogs.tsx";

interface Opened {
  readonly name: string;
  readonly by: HTMLElement;
}

const opened = signal<Opened | undefined>(undefined);

const MARGIN = 8;

export function openProcessMenu(name: string, by: HTMLElement): void {
  opened.value = opened.value?.by === by ? undefined : { name, by };
}

export function ProcessMenu() {
  const open = opened.value;
  const members = open === undefined ? [] : processesOf(open.name);
  if (open === undefined || members.length === 0) return null;
  return <OpenMenu key={open.name} {...open} members={members} />;
}

function OpenMenu({ name, by, members }: Opened & { members: readonly ProcessJson[] }) {
  const ref = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const menu = ref.current!;
    menu.showPopover();
    place(menu, by.getBoundingClientRect());
    menu.querySelector("button")?.focus();
    const closed = (event: Event) => {
      if ((event as ToggleEvent).newState === "closed") opened.value = undefined;
    };
    const leave = () => opened.value = undefined;
    menu.addEventListener("toggle", closed);
    addEventListener("hashchange", leave);
    return () => {
      removeEventListener("hashchange", leave);
      if (menu.contains(document.activeElement)) by.focus();
      menu.removeEventListener("toggle", closed);
    };
  }, []);
  const done = (then: () => void) => () => {
    opened.value = undefined;
    then();
  };
  return (
    <div
      ref={ref}
      popover="auto"
      class="menu-list process-menu"
      role="group"
      aria-label={`Actions on ${name}`}
      onKeyDown={(event) => stepThrough(ref.current!, event)}
    >
      {entriesFor(name, members).map(({ text, icon, danger, run }) => (
        <Button key={text} icon={icon} kind={danger ? "danger" : "quiet"} onClick={done(run)}>
          {text}
        </Button>
      ))}
    </div>
  );
}

interface Entry {
  readonly text: string;
  readonly icon: IconName;
  readonly danger?: boolean;
  readonly run: () => void;
}

function entriesFor(name: string, members: readonly ProcessJson[]): Entry[] {
  const verb = (text: string, icon: IconName, verb: Verb, names = [name]): Entry => ({
    text,
    icon,
    run: () => void act(verb, names),
  });
  const ask = (text: string, icon: IconName, kind: "scale" | "signal" | "change"): Entry => ({
    text,
    icon,
    run: () => processDialog.value = { kind, name },
  });
  const logs: Entry = {
    text: "Logs",
    icon: "logs",
    run: () => go(["processes", name], "tab=logs"),
  };
  if (!mayOperate.value) return [logs];
  const hasPid = members.some(({ pid }) => pid > 0);
  const some: readonly (Entry | false)[] = [
    members.some(isStarted) ? verb("Stop…", "stop", "stop") : verb("Start", "start", "start"),
    verb("Restart…", "restart", "restart"),
    verb("Reload…", "reload", "reload"),
    verb("Rolling reload…", "reload", "roll", [baseName(name)]),
    logs,
    ask("Scale…", "processes", "scale"),
    mayAdminister.value && ask("Change…", "file", "change"),
    hasPid && ask("Send a signal…", "events", "signal"),
    verb("Empty logs…", "delete", "flush"),
    hasPid && verb("Kill…", "close", "kill"),
    mayAdminister.value && { text: "Delete…", icon: "delete", danger: true, run: remove(name) },
  ];
  return some.filter((entry) => entry !== false);
}

function remove(name: string): () => void {
  return () => void act("delete", [name]).then((isDone) => isDone && go(["processes"]));
}

/** Places the menu below the button, or above if there is not enough room. */
function place(menu: HTMLElement, { left, right, top, bottom }: DOMRect): void {
  const { width, height } = menu.getBoundingClientRect();
  const x = left + width > innerWidth - MARGIN ? right - width : left;
  const y = bottom + height > innerHeight - MARGIN ? top - height - 4 : bottom + 4;
  menu.style.left = `${Math.max(MARGIN, x)}px`;
  menu.style.top = `${Math.max(MARGIN, y)}px`;
}

/** The buttons of a row. For the role `read` only the link to the log. */
export function RowActions({ process }: { process: ProcessJson }) {
  const { name } = process;
  const logs = linkTo(["logs"], new URLSearchParams({ t: name }));
  const verbs: readonly (readonly ["start" | "stop" | "restart", string])[] = [
    isStarted(process) ? ["stop", "Stop"] : ["start", "Start"],
    ["restart", "Restart"],
  ];
  return (
    <>
      {mayOperate.value && verbs.map(([verb, text]) => (
        <Button
          key={verb}
          icon={verb}
          kind="quiet"
          label={`${text} ${name}`}
          onClick={() => act(verb, [name])}
        />
      ))}
      <a class="button quiet only-icon" href={logs} aria-label={`Logs of ${name}`} title="Logs">
        <Icon name="logs" />
      </a>
      {mayOperate.value && (
        <Button
          icon="more"
          kind="quiet"
          label={`More actions on ${name}`}
          onClick={({ currentTarget }) => openProcessMenu(name, currentTarget as HTMLElement)}
        />
      )}
    </>
  );
}
