/** Everything that can be done to one process. */

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { act, run } from "../data/actions.ts";
import { processPath } from "../data/api.ts";
import { useKeys } from "../data/keys.ts";
import { go } from "../data/router.ts";
import { baseName } from "../data/select.ts";
import { mayAdminister, mayOperate, processList } from "../data/store.ts";
import type { ProcessJson } from "../data/types.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { isUp } from "./process_row.tsx";

const SIGNALS = ["SIGHUP", "SIGINT", "SIGUSR1", "SIGUSR2", "SIGTERM", "SIGCONT", "SIGSTOP"];

/** The buttons; the rarer ones in a menu. */
export function ProcessActions({ process }: { process: ProcessJson }) {
  const { name } = process;
  const names = [name];
  const up = isUp(process) || process.state === "waiting";
  const guarded = (then: () => void) => () => mayOperate.value && then();
  useKeys({
    s: guarded(() => void act("start", names)),
    S: guarded(() => void act("stop", names)),
    r: guarded(() => void act("restart", names)),
    R: guarded(() => void act("reload", names)),
    l: () => go(["processes", name], "tab=logs"),
  });
  if (!mayOperate.value) return null;
  return (
    <div class="row wrap head-actions">
      {up
        ? <Button icon="stop" onClick={() => act("stop", names)}>Stop</Button>
        : <Button icon="start" kind="primary" onClick={() => act("start", names)}>Start</Button>}
      <Button icon="restart" onClick={() => act("restart", names)}>Restart</Button>
      <Button icon="reload" onClick={() => act("reload", names)}>Reload</Button>
      <MoreMenu process={process} />
    </div>
  );
}

function MoreMenu({ process: { name, pid } }: { process: ProcessJson }) {
  const window = useSignal<"" | "scale" | "signal">("");
  const menu = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = ({ target }: Event) => {
      if (menu.current?.open && !menu.current.contains(target as Node)) menu.current.open = false;
    };
    document.addEventListener("pointerdown", close);
    document.addEventListener("focusin", close);
    return () => {
      document.removeEventListener("pointerdown", close);
      document.removeEventListener("focusin", close);
    };
  }, []);
  const then = (what: () => void) => () => {
    menu.current!.open = false;
    what();
  };
  const remove = async () => await act("delete", [name]) && go(["processes"]);
  return (
    <>
      <details
        class="menu"
        ref={menu}
        onKeyDown={({ key }) => {
          if (key === "Escape") menu.current!.open = false;
        }}
      >
        <summary class="button" aria-label="More actions">⋯</summary>
        <div class="menu-list">
          <Button kind="quiet" onClick={then(() => void act("roll", [baseName(name)]))}>
            Rolling reload
          </Button>
          <Button kind="quiet" onClick={then(() => window.value = "scale")}>Scale…</Button>
          <Button kind="quiet" disabled={pid === 0} onClick={then(() => window.value = "signal")}>
            Send a signal…
          </Button>
          <Button kind="quiet" onClick={then(() => void act("flush", [name]))}>Empty logs…</Button>
          <Button kind="quiet" disabled={pid === 0} onClick={then(() => void act("kill", [name]))}>
            Kill…
          </Button>
          {mayAdminister.value && (
            <Button kind="danger" onClick={then(() => void remove())}>Delete…</Button>
          )}
        </div>
      </details>
      {window.value === "scale" && <ScaleDialog name={name} onClose={() => window.value = ""} />}
      {window.value === "signal" && <SignalDialog name={name} onClose={() => window.value = ""} />}
    </>
  );
}

interface WindowProps {
  readonly name: string;
  readonly onClose: () => void;
}

function ScaleDialog({ name, onClose }: WindowProps) {
  const base = baseName(name);
  const now = processList.value.filter((process) => baseName(process.name) === base).length;
  const count = useSignal(now);
  const submit = (event: Event) => {
    event.preventDefault();
    onClose();
    const words = {
      doing: `Scaling ${base} to ${count.value}`,
      done: `${base} has ${count.value} now`,
    };
    void run(words, processPath(base, "scale"), {
      method: "POST",
      body: { instances: count.value },
    }).then((answer) => answer && go(["processes"], new URLSearchParams({ q: base })));
  };
  return (
    <Dialog title={`Scale ${base}`} onClose={onClose}>
      <form onSubmit={submit}>
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
        <div class="row end">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" submits>Scale</Button>
        </div>
      </form>
    </Dialog>
  );
}

function SignalDialog({ name, onClose }: WindowProps) {
  const chosen = useSignal(SIGNALS[0]!);
  const submit = (event: Event) => {
    event.preventDefault();
    onClose();
    const words = {
      doing: `Sending ${chosen.value} to ${name}`,
      done: `Sent ${chosen.value} to ${name}`,
    };
    void run(words, processPath(name, "signal"), {
      method: "POST",
      body: { signal: chosen.value },
    });
  };
  return (
    <Dialog title={`Send a signal to ${name}`} onClose={onClose}>
      <form onSubmit={submit}>
        <label>
          Signal
          <select
            value={chosen.value}
            onChange={({ currentTarget }) => chosen.value = currentTarget.value}
          >
            {SIGNALS.map((signal) => <option key={signal}>{signal}</option>)}
          </select>
        </label>
        <div class="row end">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" submits>Send</Button>
        </div>
      </form>
    </Dialog>
  );
}
