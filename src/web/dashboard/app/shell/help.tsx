/** The window with the list of keys and a link to the documentation. */

import { Dialog, helpOpen } from "../controls/controls.tsx";
import { SCREENS } from "./screens.ts";

const GROUPS: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
  ["Everywhere", [
    ["Ctrl K", "Go to a process or a screen"],
    ["/", "Search"],
    ...SCREENS.map(({ key, text, about = text }) => [`g ${key}`, about] as const),
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

/** The window, if it is open. */
export function Help() {
  if (!helpOpen.value) return null;
  return (
    <Dialog title="Keys" wide onClose={() => helpOpen.value = false}>
      <div class="key-groups">
        {GROUPS.map(([title, keys]) => (
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
        <a href="/docs" target="_blank">Documentation</a>
      </p>
    </Dialog>
  );
}
