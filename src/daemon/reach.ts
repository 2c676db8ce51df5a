/**
 * What a verb reaches for its sender. For a token with limits no apps exist but its own: its targets
 * are narrowed before a verb runs, and answers about all apps afterwards.
 */

import { ifPossible, ProcsupError } from "../model/errors.ts";
import { idsTarget, isGroup, isNameOf } from "../model/target.ts";
import type { ManagedProcess } from "../process/managed_process.ts";
import { type VerbName, VERBS } from "../verbs/mod.ts";
import type { Verb } from "../verbs/verb.ts";
import type { VerbContext } from "./verb_context.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The words that address apps in the input of a verb; undefined if it addresses none. */
function targetsIn(verb: VerbName, input: unknown): readonly string[] | undefined {
  const field = targetField(verb);
  if (field === undefined) return undefined;
  const given = (input as Fields | undefined)?.[field];
  if (given === undefined) return VERBS[verb].reach === "target or host" ? undefined : ["all"];
  return [given].flat() as string[];
}

/** The field of the input that addresses apps. */
function targetField(verb: VerbName): "target" | "targets" | "name" | undefined {
  const { reach } = VERBS[verb];
  if (reach === "target or host") return "target";
  return reach === "target" || reach === "targets" || reach === "name" ? reach : undefined;
}

/**
 * The input of a verb as it is for its sender. Throws `process_not_found` for apps that do not exist
 * for the sender, and `forbidden` for a verb that reaches beyond them.
 */
export function narrowed<I>(
  { supervisor: { directory }, by }: Pick<VerbContext, "supervisor" | "by">,
  verb: VerbName,
  input: I,
): I {
  const only = by?.only;
  if (only === undefined) return input;
  const { reach, knowsDeleted }: Verb = VERBS[verb];
  if (reach === "everything") {
    const message = `This token is only for ${only.join(", ")}; "${verb}" concerns all apps`;
    const hint = "Ask the owner of the daemon for a token without --only";
    throw new ProcsupError("forbidden", message, { hint });
  }
  const targets = targetsIn(verb, input);
  if (targets === undefined) return input;
  const all = (target: string) => ifPossible(() => directory.resolve(target));
  const narrow = (target: string) => {
    try {
      const found = directory.resolve(target, undefined, only);
      if (all(target)?.length === found.length) return target;
      return found.length === 1 && !isGroup(target) ? found[0]!.id : idsTarget(found);
    } catch (error) {
      // A deleted app still has events and figures, which only its name can tell.
      const isPast = knowsDeleted && only.some((word) => isNameOf(word, target));
      if (isPast && all(target) === undefined) return target;
      throw error;
    }
  };
  const words = targets.map(narrow);
  const field = targetField(verb)!;
  const isList = field === "targets" || Array.isArray((input as Fields)[field]);
  return { ...input, [field]: isList ? words : words[0] };
}

/** The processes that a request addresses; none if they do not exist. */
export function addressed(
  { supervisor: { directory } }: VerbContext,
  verb: VerbName,
  input: unknown,
): ManagedProcess[] {
  const found = targetsIn(verb, input)?.flatMap((target) =>
    ifPossible(() => directory.resolve(target)) ?? []
  );
  return [...new Set(found)];
}

/** The answer of a verb as it is for its sender. */
export function seen(
  { supervisor: { directory }, by }: VerbContext,
  verb: VerbName,
  answer: unknown,
): unknown {
  const only = by?.only;
  if (only === undefined) return answer;
  const { reach } = VERBS[verb];
  if (reach === "settings") return [];
  if (reach !== "apps" && reach !== "figures") return answer;
  const visible = new Set(directory.resolve("all", undefined, only).map(({ name }) => name));
  if (reach === "figures") return { ...answer as Fields, process_count: visible.size };
  return (answer as readonly { readonly name: string }[]).filter(({ name }) => visible.has(name));
}
