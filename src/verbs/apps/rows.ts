/** The verbs that change apps: how many instances, which configuration, which run. */

import * as z from "zod/mini";
import {
  about,
  bulkResult,
  configKeys,
  count,
  fieldChange,
  flag,
  keysOrYaml,
  rollingResult,
  target,
  wait,
} from "../shapes.ts";
import { verb } from "../verb.ts";

/** Options for replacing instances. */
export const batches = {
  batch_size: about(
    z.optional(count),
    "instances at a time: a number, or a part such as 25%; default 1",
  ),
  wait_ready: about(z._default(flag, true), "continue only when a batch is ready"),
};

const reconfigureRoute = {
  path: "/processes/{id}",
  query: ["batch_size", "wait_ready", "rollback_on_failure", "dry_run"],
  body: "ProcessConfigPatch",
  bodyField: "config",
  answers: "Reconfigured",
};

const instances = about(count.clone(), '`4`, `"+2"` or `"-1"`');

export const APP_VERBS = {
  scale: verb({
    bare: "target",
    output: bulkResult,
    help: "Change the number of instances",
    role: "operate",
    reach: "target",
    input: z.strictObject({
      /** Name in the configuration. */
      target,
      instances,
      wait: z.optional(wait),
    }),
    rest: [{
      method: "POST",
      path: "/processes/{id}/scale",
      query: ["wait"],
      body: "Scale",
      answers: "BulkResult",
    }],
    mcp: {
      tool: "scale_app",
      toolset: "deploy",
      title: "Scale app",
      description: "Change how many instances of an app run; answers once new ones have stayed up.",
      input: z.strictObject({ target, instances }),
      destructive: true,
      openWorld: true,
    },
  }),
  rolling_reload: verb({
    help: "Reload the instances in batches",
    role: "operate",
    reach: "target",
    input: z.strictObject({
      target,
      ...batches,
      rollback_on_failure: about(
        z._default(flag, false),
        "restore the old configuration on all when one fails",
      ),
    }),
    bare: "target",
    output: rollingResult,
    rest: [{
      method: "POST",
      path: "/processes/{id}/rolling_reload",
      body: "RollingReload",
      answers: "RollingResult",
    }],
  }),
  reconfigure: verb({
    help: "Change the configuration; what runs is replaced only where a changed key needs it",
    role: "admin",
    reach: "target",
    input: z.strictObject({
      target,
      config: about(
        keysOrYaml.clone(),
        "A merge patch (RFC 7396) in wire form, or its text in YAML: maps are merged, `null` " +
          "removes a key, and a mask that was read keeps the value that it hides",
      ),
      replace: about(
        z._default(flag, false),
        "Keys that are not named get their defaults, except for the name and the number of instances",
      ),
      ...batches,
      rollback_on_failure: about(
        z._default(flag, true),
        "restore the old configuration when one fails",
      ),
      dry_run: about(z._default(flag, false), "Only report what would be done"),
    }),
    output: z.extend(rollingResult, {
      status: about(
        z.enum(["unchanged", "changed", "reloaded", "rolled_back", "failed", "planned"]),
        "`changed`: nothing had to be replaced",
      ),
      restarted: about(z.boolean(), "Whether the run was replaced, or would be"),
      changes: about(z.array(fieldChange), "Which keys changed"),
    }),
    bare: "target",
    rest: [
      {
        ...reconfigureRoute,
        method: "PATCH",
        help: "Change the configuration by a JSON Merge Patch (RFC 7396)",
        fixed: { replace: false },
      },
      {
        ...reconfigureRoute,
        method: "PUT",
        help: "Replace the configuration",
        fixed: { replace: true },
      },
    ],
    mcp: {
      tool: "update_app",
      toolset: "deploy",
      title: "Update app",
      description: "Change the configuration of an app. Maps are merged, null removes a key. The " +
        "app is reloaded only when a changed key needs it, and gets its old configuration back " +
        "when it does not come up.",
      input: z.strictObject({ target, config: configKeys }),
      destructive: true,
      idempotent: true,
      openWorld: true,
    },
  }),
};
