/**
 * What each verb reaches. For a token with limits no apps exist but its own: its targets are narrowed
 * before a verb runs, and answers about all apps afterwards.
 */

import { ifPossible, ProcsupError } from "../../model/errors.ts";
import { idsTarget, isGroup, isNameOf } from "../../model/target.ts";
import type { ManagedProcess } from "../../process/managed_process.ts";
import type { VerbName } from "../../protocol/wire.ts";
import type { VerbContext } from "./context.ts";

/**
 * `target`, `targets` and `name`: the apps of this field. `apps`: it answers with a list of all apps.
 * `figures`: it counts them. `settings`: it answers with a list of settings, which may name apps.
 * `nothing`: no apps. `everything`: all apps, or the daemon itself.
 */
type Reach =
  | "target"
  | "targets"
  | "name"
  | "apps"
  | "figures"
  | "settings"
  | "nothing"
  | "everything";

const REACH: Readonly<Record<VerbName, Reach>> = {
  list: "apps",
  status: "target",
  why: "target",
  history: "target",
  releases: "target",
  wait: "target",
  events: "target",
  metrics_history: "target",
  search_logs: "targets",
  log_counts: "targets",
  logs: "target",
  add: "everything",
  start: "target",
  stop: "target",
  restart: "target",
  reload: "target",
  delete: "target",
  signal: "target",
  send: "target",
  attach: "target",
  flush: "target",
  scale: "target",
  rolling_reload: "target",
  reconfigure: "target",
  start_all: "everything",
  config_reload: "everything",
  config_delete: "everything",
  cron_list: "name",
  cron_start: "name",
  cron_stop: "name",
  cron_run: "name",
  ping: "nothing",
  save: "everything",
  resurrect: "everything",
  system_metrics: "figures",
  system_info: "nothing",
  ports: "apps",
  contexts: "everything",
  token: "everything",
  release: "everything",
  shutdown: "everything",
  web_start: "everything",
  web_stop: "everything",
  web_status: "nothing",
  web_link: "nothing",
  token_create: "everything",
  token_list: "everything",
  token_revoke: "everything",
  webhook_list: "settings",
  webhook_set: "everything",
  webhook_delete: "everything",
  webhook_test: "everything",
};

/** The verbs that know apps which were deleted. */
const PAST: ReadonlySet<VerbName> = new Set(["events", "metrics_history"]);

type Fields = Readonly<Record<string, unknown>>;

/** The words that address apps in the input of a verb; undefined if it addresses none. */
function targetsIn(verb: VerbName, input: unknown): readonly string[] | undefined {
  const reach = REACH[verb];
  if (reach !== "target" && reach !== "targets" && reach !== "name") return undefined;
  const given = (input as Fields | undefined)?.[reach];
  // Without a target it concerns the host.
  if (given === undefined) return verb === "metrics_history" ? undefined : ["all"];
  return [given].flat() as string[];
}

/**
 * The input of a verb as it is for its sender. Throws `process_not_found` for apps that do not exist
 * for the sender, and `forbidden` for a verb that reaches beyond them.
 */
export function narrowed<I>(
  { supervisor: { registry }, by }: Pick<VerbContext, "supervisor" | "by">,
  verb: VerbName,
  input: I,
): I {
  const only = by?.only;
  if (only === undefined) return input;
  if (REACH[verb] === "everything") {
    const message = `This token is only for ${only.join(", ")}; "${verb}" concerns all apps`;
    throw new ProcsupError("forbidden", message);
  }
  const targets = targetsIn(verb, input);
  if (targets === undefined) return input;
  const all = (target: string) => ifPossible(() => registry.resolve(target));
  const narrow = (target: string) => {
    try {
      const found = registry.resolve(target, undefined, only);
      if (all(target)?.length === found.length) return target;
      return found.length === 1 && !isGroup(target) ? found[0]!.id : idsTarget(found);
    } catch (error) {
      // A deleted app still has events and figures, which only its name can tell.
      const isPast = PAST.has(verb) && only.some((word) => isNameOf(word, target));
      if (isPast && all(target) === undefined) return target;
      throw error;
    }
  };
  const words = targets.map(narrow);
  const field = REACH[verb];
  return { ...input, [field]: field === "targets" ? words : words[0] };
}

/** The processes that a request addresses; none if they do not exist. */
export function addressed(
  { supervisor: { registry } }: VerbContext,
  verb: VerbName,
  input: unknown,
): ManagedProcess[] {
  const found = targetsIn(verb, input)?.flatMap((target) =>
    ifPossible(() => registry.resolve(target)) ?? []
  );
  return [...new Set(found)];
}

/** The answer of a verb as it is for its sender. */
export function seen(
  { supervisor: { registry }, by }: VerbContext,
  verb: VerbName,
  answer: unknown,
): unknown {
  const only = by?.only;
  if (only === undefined) return answer;
  const reach = REACH[verb];
  if (reach === "settings") return [];
  if (reach !== "apps" && reach !== "figures") return answer;
  const visible = new Set(registry.resolve("all", undefined, only).map(({ name }) => name));
  if (reach === "figures") return { ...answer as Fields, process_count: visible.size };
  return (answer as readonly { readonly name: string }[]).filter(({ name }) => visible.has(name));
}
