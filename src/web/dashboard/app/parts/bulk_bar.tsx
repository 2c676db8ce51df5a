/** What can be done to all that is selected. */

import { act, type Verb } from "../data/actions.ts";
import { mayAdminister, mayOperate } from "../data/store.ts";
import { linkTo } from "../data/router.ts";
import { baseName } from "../data/select.ts";
import { counted } from "../text/format.ts";
import { Button } from "./button.tsx";
import { Icon, type IconName } from "./icon.tsx";

const VERBS: readonly { verb: Verb; icon: IconName; text: string }[] = [
  { verb: "start", icon: "start", text: "Start" },
  { verb: "stop", icon: "stop", text: "Stop" },
  { verb: "restart", icon: "restart", text: "Restart" },
  { verb: "reload", icon: "reload", text: "Reload" },
  { verb: "roll", icon: "reload", text: "Roll" },
];

/** The bar, while something is selected. */
export function BulkBar({ names, onClear }: { names: readonly string[]; onClear: () => void }) {
  if (names.length === 0) return null;
  const logs = linkTo(["logs"], new URLSearchParams(names.map((name) => ["t", name])));
  return (
    <div class="bulk" role="toolbar" aria-label="Selected processes">
      <strong>{counted(names.length, "selected", "selected")}</strong>
      {mayOperate.value &&
        VERBS.map(({ verb, icon, text }) => (
          <Button
            key={verb}
            icon={icon}
            onClick={() => act(verb, verb === "roll" ? [...new Set(names.map(baseName))] : names)}
          >
            {text}
          </Button>
        ))}
      <a class="button" href={logs}>
        <Icon name="logs" />
        <span>Logs</span>
      </a>
      {mayAdminister.value && (
        <Button
          icon="delete"
          kind="danger"
          onClick={async () => await act("delete", names) && onClear()}
        >
          Delete
        </Button>
      )}
      <Button icon="close" kind="quiet" label="Select nothing" onClick={onClear} />
    </div>
  );
}
