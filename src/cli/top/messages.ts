/** What can happen to the screen, and what it may want done. */

import type { WhyJson } from "../../protocol/actions.ts";
import type { ChangeJson } from "../../protocol/change_json.ts";
import type { ProcessJson } from "../../protocol/process_json.ts";
import type { PortsJson } from "../../protocol/web_actions.ts";
import type { DaemonFigures, HostFigures, Pane } from "./figures.ts";
import type { LogLine } from "./log_view.ts";
import type { SortKey } from "./sort.ts";

/** What the world tells. */
export type News =
  | { readonly type: "size"; readonly columns: number; readonly rows: number }
  | { readonly type: "tick"; readonly now: number; readonly host?: HostFigures }
  | { readonly type: "list"; readonly processes: readonly ProcessJson[]; readonly now: number }
  | { readonly type: "lost"; readonly reason: string; readonly now: number }
  | { readonly type: "daemon"; readonly daemon: DaemonFigures }
  | { readonly type: "event"; readonly event: ChangeJson }
  /** More lines, or with `begins` all there are; `skipped`: after a gap. */
  | {
    readonly type: "log";
    readonly source: string;
    readonly begins: boolean;
    readonly skipped: boolean;
    readonly lines: readonly LogLine[];
  }
  | { readonly type: "ports"; readonly ports: readonly PortsJson[] }
  | { readonly type: "why"; readonly why: WhyJson }
  | { readonly type: "done"; readonly text: string; readonly bad: boolean };

/** The verbs that a key or a word stands for. */
export const VERBS = [
  "start",
  "stop",
  "restart",
  "reload",
  "delete",
  "flush",
  "signal",
  "scale",
  "roll",
] as const;

/** One of them. */
export type Verb = (typeof VERBS)[number];

/** What a person wants. */
export type Wish =
  | { readonly type: "move"; readonly by: number | "page" | "-page" | "first" | "last" }
  | { readonly type: "side"; readonly by: number }
  | { readonly type: "mark" }
  | { readonly type: "mark_all" }
  | { readonly type: "back" }
  | { readonly type: "pane"; readonly pane: Pane; readonly focus?: boolean }
  | { readonly type: "focus" }
  | { readonly type: "zoom" }
  | { readonly type: "ports_column" }
  | { readonly type: "grow"; readonly by: number }
  | { readonly type: "sort"; readonly key?: SortKey }
  | { readonly type: "reverse" }
  | { readonly type: "switch"; readonly what: "follow" | "wrap" | "times" | "stderr" }
  | { readonly type: "find"; readonly step: 1 | -1 }
  | { readonly type: "ask"; readonly what: "filter" | "search" | "palette" | "signal" }
  | { readonly type: "do"; readonly verb: Verb; readonly word?: string; readonly target?: string }
  | { readonly type: "type"; readonly text: string }
  | { readonly type: "erase"; readonly what: "character" | "word" | "all" }
  | { readonly type: "complete" }
  | { readonly type: "enter" }
  | { readonly type: "cancel" }
  | { readonly type: "help" }
  | { readonly type: "redraw" }
  | { readonly type: "quit" };

/** Everything that can happen. */
export type Message = News | Wish;

/** What the edge is to do. */
export type Effect =
  | { readonly type: "act"; readonly action: ActionCall }
  | { readonly type: "redraw" }
  | { readonly type: "quit" };

/** A verb for apps by their names. */
export interface ActionCall {
  readonly verb: Verb;
  readonly targets: readonly string[];
  /** Name of the signal, or number of instances. */
  readonly word?: string;
}
