/** What is rarely done with a log, in a menu. */

import { logSize, nextSize, type TimeLook, timeLook } from "../data/log_looks.ts";
import type { LogPanes } from "../data/log_panes.ts";
import { downloadLines, downloadWhole } from "../data/download.ts";
import { Button } from "./button.tsx";
import { Menu } from "./menu.tsx";

const TIMES: readonly (readonly [TimeLook, string])[] = [
  ["exact", "Exact times"],
  ["ago", "How long ago"],
  ["none", "No times"],
];

/** The menu. */
export function LogMenu({ panes, targets }: {
  readonly panes: LogPanes;
  readonly targets: readonly string[];
}) {
  return (
    <Menu label="More of the log view">
      {(close) => (
        <>
          {TIMES.map(([look, text]) => (
            <Button
              key={look}
              kind="quiet"
              icon={timeLook.value === look ? "done" : "blank"}
              pressed={timeLook.value === look}
              onClick={() => timeLook.value = look}
            >
              {text}
            </Button>
          ))}
          <hr />
          <Button kind="quiet" icon="text" onClick={nextSize}>Text: {logSize.value}</Button>
          <hr />
          <Button
            kind="quiet"
            icon="download"
            onClick={close(() =>
              downloadLines(panes.list.flatMap(({ buffer }) => buffer.shown), targets)
            )}
          >
            Download what is shown
          </Button>
          <Button
            kind="quiet"
            icon="download"
            onClick={close(() => void downloadWhole(targets))}
          >
            Download all, as written
          </Button>
          <hr />
          <Button kind="quiet" icon="close" onClick={close(() => panes.clear())}>
            Clear the view; the log stays
          </Button>
        </>
      )}
    </Menu>
  );
}
