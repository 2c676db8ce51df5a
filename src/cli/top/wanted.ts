/** What the screen needs from the daemon beyond the list. Pure. */

import { layoutOf } from "./layout.ts";
import { MAX_LINES } from "./log_view.ts";
import { chosen, current, type TopState } from "./state.ts";

/** Apps whose logs are followed at once: each is a file that the daemon looks at. */
const MAX_LOGS = 32;

/** Which lines are wanted. */
export interface WantedLogs {
  readonly names: readonly string[];
  readonly stderr: boolean;
  /** No more for now: they would push out what is being read. The log itself keeps them. */
  readonly hold: boolean;
}

/** Whose logs are followed; undefined where the pane does not show any. */
export function wantedLogs(state: TopState): WantedLogs | undefined {
  if (state.pane !== "logs" || layoutOf(state).pane === 0) return undefined;
  const { stderr, bottom, lines } = state.log;
  const names = chosen(state).slice(0, MAX_LOGS).map(({ name }) => name);
  return { names, stderr, hold: bottom !== null && lines.length >= MAX_LINES };
}

/** Whether anything shows what the apps listen on. It takes the daemon a look at every descriptor. */
export function wantsPorts({ portsColumn, pane, lost }: TopState): boolean {
  return lost === undefined && (portsColumn || pane === "details");
}

/**
 * Which app is to be explained, and a key that changes whenever the explanation may; undefined where
 * nothing shows it.
 */
export function wantedWhy(state: TopState): { readonly name: string; key: string } | undefined {
  const process = current(state);
  if (process === undefined || state.pane !== "details" || state.lost !== undefined) {
    return undefined;
  }
  const { name, id, pid, state: is, restarts, last_reason, health, ready } = process;
  return { name, key: [id, pid, is, restarts, health, ready, last_reason].join(" ") };
}
