/** What is most often done to one process, as buttons; the rest in a menu. */

import { act } from "../data/actions.ts";
import { useKeys } from "../data/keys.ts";
import { go } from "../data/router.ts";
import { isUp } from "../data/select.ts";
import { mayOperate } from "../data/store.ts";
import type { ProcessJson } from "../data/types.ts";
import { Button } from "./button.tsx";
import { openProcessMenu } from "./process_menu.tsx";

/** The buttons at the head of its page. */
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
    ".": guarded(() => document.getElementById("more-actions")?.click()),
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
      <Button
        id="more-actions"
        icon="more"
        label="More actions (.)"
        onClick={({ currentTarget }) => openProcessMenu(name, currentTarget as HTMLElement)}
      />
    </div>
  );
}
