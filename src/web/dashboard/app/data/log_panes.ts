/** The columns of a log view: lines are shared out to them by the name of their app. */

import { signal } from "@preact/signals";
import { LogBuffer, type LogLine } from "./log_buffer.ts";
import type { LogSink } from "./log_source.ts";
import { baseName } from "./select.ts";

/** One column. */
export class LogPane {
  readonly buffer = new LogBuffer();
  /** Position of the line that keys act on; -1 for none. */
  readonly cursor = signal(-1);
  /** Position of the line that is shown in full; -1 for none. */
  readonly opened = signal(-1);
  /** The app that it is for; empty when it holds all of them. */
  readonly target: string;

  /** `target`: a name, or nothing for all. */
  constructor(target: string) {
    this.target = target;
  }
}

/** All columns of a view. */
export class LogPanes implements LogSink {
  readonly list: readonly LogPane[];
  /** The column that keys act on. */
  readonly active = signal(0);

  /** One column for each target, or one for all when they are merged. */
  constructor(targets: readonly string[], isParted: boolean) {
    this.list = isParted && targets.length > 1
      ? targets.map((target) => new LogPane(target))
      : [new LogPane("")];
  }

  /** The column that keys act on. */
  get current(): LogPane {
    return this.list[this.active.value] ?? this.list[0]!;
  }

  add(lines: readonly Omit<LogLine, "seq">[]): void {
    if (this.list.length === 1) return this.list[0]!.buffer.add(lines);
    for (const [name, own] of Map.groupBy(lines, ({ name }) => name)) {
      const pane = this.list.find(({ target }) => target === name) ??
        this.list.find(({ target }) => target === baseName(name));
      pane?.buffer.add(own);
    }
  }

  clear(): void {
    for (const { buffer } of this.list) buffer.clear();
  }
}
