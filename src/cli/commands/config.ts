/** `procsup config <verb>`: configuration files. */

import { didYouMean } from "../../model/did_you_mean.ts";
import { ProcsupError } from "../../model/errors.ts";
import type { CommandContext } from "../command.ts";

type Verb = (context: CommandContext, words: readonly string[]) => Promise<number>;

const VERBS: Readonly<Record<string, () => Promise<{ run: Verb }>>> = {
  validate: () => import("./config_validate.ts"),
  plan: () => import("./config_plan.ts"),
  apply: () => import("./config_apply.ts"),
  reload: () => import("./config_reload.ts"),
  schema: () => import("./config_schema.ts"),
  show: () => import("./config_show.ts"),
};

/** Runs the verb that the first word names. */
export async function run(context: CommandContext): Promise<number> {
  const [verb = "", ...words] = context.positionals;
  if (!Object.hasOwn(VERBS, verb)) {
    const near = didYouMean(verb, Object.keys(VERBS));
    throw new ProcsupError("bad_request", `Unknown word "${verb}" after config`, {
      hint: near === undefined
        ? `One of: ${Object.keys(VERBS).join(", ")}`
        : `Did you mean "procsup config ${near}"?`,
    });
  }
  return await (await VERBS[verb]!()).run(context, words);
}
