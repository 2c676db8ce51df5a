/** `list` and `status`: the current processes. */

import * as z from "../../npm/zod.ts";
import { about, flag, nothing, onTarget, processInfo, target } from "./shapes.ts";
import { verb } from "./verb.ts";

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
      description: "List the supervised apps, or those that a target names: state and usage.",
      input: z.strictObject({
        target: z.optional(target),
        detail: about(
          z.optional(flag),
          "Include all fields, and configuration that differs from the defaults",
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
    mcp: {
      tool: "get_status",
      title: "Get status",
      description: "Show everything about apps: state and its reason, last check and output, " +
        "usage, restarts, last exit, next restart, whole configuration.",
      input: onTarget,
      idempotent: true,
    },
  }),
};
