/** The buttons and the menu of actions on a process or an app, and the dialogs to scale and signal it. */

import { baseName } from "../../../../model/name.ts";
import { signal, useSignal } from "@preact/signals";
import { act, goToChange, run, type Verb, VERBS } from "./actions.ts";
import { go, linkTo, place, screen } from "../data/router.ts";
import { isStarted } from "./select.ts";
import { mayAdminister, mayOperate, processesOf } from "../data/store.ts";
import type { ProcessJson } from "../../../../protocol/wire.ts";
import { Button, Select } from "../controls/controls.tsx";
import { FormDialog } from "../controls/dialogs.tsx";
import { Icon, type IconName } from "../controls/icons.tsx";
import { Menu } from "../controls/menu.tsx";

/** The button of all actions on a process or an app. */
export function ProcessMenu({ name, ...button }: { readonly name: string } & MenuButton) {
  return (
    <Menu {...button} title={`Actions on ${name}`}>
      {(close) =>
        entriesFor(name, processesOf(name)).map(({ text, icon, danger, run }) => (
          <Button key={text} icon={icon} kind={danger ? "danger" : "quiet"} onClick={close(run)}>
            {text}
          </Button>
        ))}
    </Menu>
  );
}

type MenuButton = Pick<Parameters<typeof Menu>[0], "id" | "label" | "kind">;

interface Entry {
  readonly text: string;
  readonly icon: IconName;
  readonly danger?: boolean;
  readonly run: () => void;
}

function entriesFor(name: string, members: readonly ProcessJson[]): Entry[] {
  const verb = (text: string, verb: Verb, names = [name]): Entry => ({
    text,
    icon: VERBS[verb].icon,
    run: () => void act(verb, names),
  });
  const ask = (text: string, icon: IconName, kind: "scale" | "signal"): Entry => ({
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
    members.some(isStarted) ? verb("Stop…", "stop") : verb("Start", "start"),
    verb("Restart…", "restart"),
    verb("Reload…", "reload"),
    verb("Rolling reload…", "roll", [baseName(name)]),
    logs,
    ask("Scale…", "processes", "scale"),
    mayAdminister.value && { text: "Change…", icon: "file", run: () => goToChange(name) },
    hasPid && ask("Send a signal…", "events", "signal"),
    verb("Empty logs…", "flush"),
    hasPid && verb("Kill…", "kill"),
    mayAdminister.value && {
      ...{ text: "Delete…", icon: "delete", danger: true },
      run: () => void remove(name, members[0]?.id ?? ""),
    },
  ];
  return some.filter((entry) => entry !== false);
}

/** Deletes a process or app, and leaves its page. */
async function remove(name: string, id: string): Promise<void> {
  const isDone = await act("delete", [name]);
  const isShown = screen.value === "process" && [name, id].includes(place.value.path[1]!);
  if (isDone && isShown) go(["processes"]);
}

export function VerbButton({ verb, names, kind }: {
  readonly verb: Verb;
  readonly names: readonly string[];
  readonly kind?: "primary";
}) {
  const { title, text = title, icon } = VERBS[verb];
  return <Button {...{ icon, kind }} onClick={() => void act(verb, names)}>{text}</Button>;
}

/** The buttons of a row. For the role `read` only the link to the log. */
export function RowActions({ process }: { process: ProcessJson }) {
  const { name } = process;
  return (
    <>
      <Deeds whom={name} names={[name]} isStarted={isStarted(process)} />
      {mayOperate.value && (
        <ProcessMenu kind="quiet" label={`More actions on ${name}`} name={name} />
      )}
    </>
  );
}

/** The buttons of a group of processes. */
export function GroupActions(
  { title, members }: { readonly title: string; readonly members: readonly ProcessJson[] },
) {
  const names = members.map(({ name }) => name);
  return <Deeds whom={title} names={names} isStarted={members.some(isStarted)} />;
}

function Deeds({ whom, names, isStarted }: {
  readonly whom: string;
  readonly names: readonly string[];
  readonly isStarted: boolean;
}) {
  const logs = linkTo(["logs"], new URLSearchParams(names.map((name) => ["t", name])));
  const verbs = [isStarted ? "stop" : "start", "restart"] as const;
  return (
    <>
      {mayOperate.value && verbs.map((verb) => (
        <Button
          key={verb}
          icon={verb}
          kind="quiet"
          label={`${VERBS[verb].title} ${whom}`}
          onClick={() => act(verb, names)}
        />
      ))}
      <a class="button quiet only-icon" href={logs} aria-label={`Logs of ${whom}`} title="Logs">
        <Icon name="logs" />
      </a>
    </>
  );
}

const processDialog = signal<
  { readonly kind: keyof typeof WINDOWS; readonly name: string } | undefined
>(undefined);

const SIGNALS = ["SIGHUP", "SIGINT", "SIGUSR1", "SIGUSR2", "SIGTERM", "SIGCONT", "SIGSTOP"];

export function ProcessDialogs() {
  const open = processDialog.value;
  if (open === undefined) return null;
  const Window = WINDOWS[open.kind];
  return <Window name={open.name} onClose={() => processDialog.value = undefined} />;
}

const WINDOWS = { scale: ScaleDialog, signal: SignalDialog };

interface WindowProps {
  readonly name: string;
  readonly onClose: () => void;
}

function ScaleDialog({ name, onClose }: WindowProps) {
  const base = baseName(name);
  const now = processesOf(base).length;
  const count = useSignal(now);
  const doing = `Scaling ${base} to ${count.value}`;
  const submit = async () => {
    onClose();
    const from = place.value;
    const words = { doing, done: `${base} has ${count.value} now` };
    const answer = await run(words, "scale", { target: base, instances: count.value });
    if (answer !== undefined && place.value === from) go(["processes", base]);
  };
  return (
    <FormDialog title={`Scale ${base}`} verb="Scale" {...{ doing, onClose }} onSubmit={submit}>
      <label>
        Instances
        <input
          type="number"
          min={1}
          max={1024}
          required
          value={count.value}
          onInput={({ currentTarget }) => count.value = currentTarget.valueAsNumber}
        />
      </label>
      <p class="faint small">There {now === 1 ? "is 1" : `are ${now}`} now.</p>
    </FormDialog>
  );
}

function SignalDialog({ name, onClose }: WindowProps) {
  const chosen = useSignal(SIGNALS[0]!);
  const doing = `Sending ${chosen.value} to ${name}`;
  const submit = async () => {
    onClose();
    const words = { doing, done: `Sent ${chosen.value} to ${name}` };
    await run(words, "signal", { target: name, signal: chosen.value });
  };
  return (
    <FormDialog
      title={`Send a signal to ${name}`}
      verb="Send"
      {...{ doing, onClose }}
      onSubmit={submit}
    >
      <label>
        Signal
        <Select value={chosen.value} options={SIGNALS} onChoose={(name) => chosen.value = name} />
      </label>
    </FormDialog>
  );
}
