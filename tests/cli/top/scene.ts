/** A state of `top` that tests drive with keys. */

import { commandOf, decodeKeys } from "../../../src/cli/top/keys.ts";
import type { LogLine } from "../../../src/model/log_line.ts";
import {
  type Effect,
  initialState,
  type Message,
  type TopState,
} from "../../../src/cli/top/state.ts";
import { update } from "../../../src/cli/top/update.ts";
import { view } from "../../../src/cli/top/view.ts";
import type { ProcessJson } from "../../../src/protocol/wire.ts";
import { fakeProcess } from "../fake_daemon.ts";

/** The time of every scene. */
export const NOW = Date.UTC(2026, 0, 2, 12);

/** An app with a numeric id, with some changes. */
export function app(
  number: number,
  name: string,
  different: Partial<ProcessJson> = {},
): ProcessJson {
  return fakeProcess({ id: `${number}`.padStart(8, "a"), numeric_id: number, name, ...different });
}

/** The view without a terminal, driven like a person would. */
export class Scene {
  state: TopState;
  /** The requested calls, in order. */
  readonly effects: Effect[] = [];

  constructor(
    processes: readonly ProcessJson[],
    { columns = 100, rows = 30, color = false, byId = true } = {},
  ) {
    this.state = initialState({ columns, rows, color, now: NOW });
    if (byId) this.update({ type: "sort", key: "id" });
    this.update({ type: "list", processes, now: NOW });
  }

  /** Delivers an event. */
  update(message: Message): void {
    const { state, effects } = update(this.state, message);
    this.state = state;
    this.effects.push(...effects);
  }

  /** Types bytes, as a terminal sends them. */
  keys(text: string): this {
    for (const input of decodeKeys(text, true).keys) {
      const desired = commandOf(input, this.state);
      if (desired !== undefined) this.update(desired);
    }
    return this;
  }

  /** Adds log lines. */
  log(...lines: (string | LogLine)[]): void {
    const all = lines.map((line): LogLine =>
      typeof line === "string"
        ? { name: "api", stream: "stdout", line, at: "2026-01-02T12:00:00.000Z", end: 1 }
        : line
    );
    const { source } = this.state.log;
    this.update({ type: "log", source, begins: false, skipped: false, lines: all });
  }

  /** The lines of the screen. */
  get screen(): string[] {
    return view(this.state);
  }

  /** The names in the table, in order. */
  get names(): string[] {
    return this.state.visible.map(({ name }) => name);
  }
}
