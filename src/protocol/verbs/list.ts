/** `list` and `status`: the processes as they stand. */

import * as z from "../../npm/zod.ts";
import { about, nothing, onTarget, processInfo, target, text } from "./shapes.ts";
import { verb } from "./verb.ts";

/** The target of a verb that looks at one process. */
export const oneTarget = about(text.clone(), "Name, numeric id or unique id prefix of one app");

/** The verbs. */
export const LIST_VERBS = {
  list: verb({
    help: "All processes",
    role: "read",
    input: nothing,
    output: z.array(processInfo),
    rest: [{ method: "GET", path: "/processes", answers: "ProcessList" }],
    mcp: {
      tool: "list_apps",
      title: "List apps",
      description: "List the supervised apps, or those that a target names: state, usage, and " +
        "the configuration as far as it differs from the defaults. Where there are many, name a " +
        "target.",
      input: z.strictObject({
        target: about(
          z.optional(target),
          "Only these apps: a name, the base name of instances, `ns:<namespace>`, `tag:<tag>` " +
            "or `label:<key>=<value>`; default: all",
        ),
      }),
      idempotent: true,
    },
  }),
  status: verb({
    help: "One process",
    role: "read",
    input: onTarget,
    bare: "target",
    output: processInfo,
    rest: [{ method: "GET", path: "/processes/{id}", answers: "ProcessInfo" }],
  }),
};
