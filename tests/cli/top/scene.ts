/** A state to begin with, and what keys make of it. */

import { commandOf, decodeKeys } from "../../../src/cli/top/keys.ts";
import type { LogLine } from "../../../src/model/log_line.ts";
import type { Effect, Message } from "../../../src/cli/top/messages.ts";
import { initialState, type TopState } from "../../../src/cli/top/state.ts";
import { update } from "../../../src/cli/top/update.ts";
import { view } from "../../../src/cli/top/view.ts";
import type { ProcessJson } from "../../../src/protocol/wire.ts";
import { fakeProcess } from "../fake_daemon.ts";

/** When every scene plays. */
export const NOW = Date.UTC(2026, 0, 2, 12);

/** An app of a number, and whatever is to be different. */
export function app(
  number: number,
  name: string,
  different: Partial<ProcessJson> = {},
): ProcessJson {
  return fakeProcess({ id: `${number}`.padStart(8, "a"), numeric_id: number, name, ...different });
}

/** The view, driven as by a person, without a terminal. */
export class Scene {
  state: TopState;
  /** What was to be done, in its order. */
  readonly effects: Effect[] = [];

  constructor(
    processes: readonly ProcessJson[],
    { columns = 100, rows = 30, color = false } = {},
  ) {
    this.state = initialState({ columns, rows, color, now: NOW });
    this.tell({ type: "list", processes, now: NOW });
  }

  /** Something happens. */
  tell(message: Message): void {
    const { state, effects } = update(this.state, message);
    this.state = state;
    this.effects.push(...effects);
  }

  /** Somebody types: bytes as a terminal sends them. */
  keys(text: string): this {
    for (const input of decodeKeys(text, true).keys) {
      const desired = commandOf(input, this.state);
      if (desired !== undefined) this.tell(desired);
    }
    return this;
  }

  /** The apps write. */
  log(...lines: (string | LogLine)[]): void {
    const all = lines.map((line): LogLine =>
      typeof line === "string"
        ? { name: "api", stream: "stdout", line, at: "2026-01-02T12:00:00.000Z" }
        : line
    );
    const { source } = this.state.log;
    this.tell({ type: "log", source, begins: false, skipped: false, lines: all });
  }

  /** The lines of the screen. */
  get screen(): string[] {
    return view(this.state);
  }

  /** The names in the table, in their order. */
  get names(): string[] {
    return this.state.visible.map(({ name }) => name);
  }
}
