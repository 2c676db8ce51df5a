/** The buttons of one process in a list. */

import { act } from "../data/actions.ts";
import { linkTo } from "../data/router.ts";
import { isUp } from "../data/select.ts";
import { mayOperate } from "../data/store.ts";
import type { ProcessJson } from "../data/types.ts";
import { Button } from "./button.tsx";
import { Icon } from "./icon.tsx";
import { openProcessMenu } from "./process_menu.tsx";

/** The buttons; without the right to use them only the way to its log. */
export function RowActions({ process }: { process: ProcessJson }) {
  const { name } = process;
  const logs = linkTo(["logs"], new URLSearchParams({ t: name }));
  return (
    <>
      {mayOperate.value && (isUp(process) || process.state === "waiting"
        ? (
          <Button
            icon="stop"
            kind="quiet"
            label={`Stop ${name}`}
            onClick={() => act("stop", [name])}
          />
        )
        : (
          <Button
            icon="start"
            kind="quiet"
            label={`Start ${name}`}
            onClick={() => act("start", [name])}
          />
        ))}
      {mayOperate.value && (
        <Button
          icon="restart"
          kind="quiet"
          label={`Restart ${name}`}
          onClick={() => act("restart", [name])}
        />
      )}
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
