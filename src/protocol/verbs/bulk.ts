/** The verbs that stop, restart, change and signal existing processes. */

import * as z from "zod/mini";
import {
  about,
  bulkResult,
  configKeys,
  count,
  duration,
  fieldChange,
  flag,
  onTarget,
  rollingResult,
  statusOnly,
  target,
  wait,
} from "./shapes.ts";
import { verb } from "./verb.ts";

const stop = z.strictObject({
  target,
  force: about(z.optional(flag), "SIGKILL at once"),
  timeout: about(z.optional(duration), "Grace before SIGKILL, such as `10s`"),
  parallel: about(z.optional(flag), "Stop all at once (default) instead of one after the other"),
  graceful: about(z.optional(flag), "False kills at once, like `force`. Default true."),
});

const waiting = z.strictObject({ target, wait: z.optional(wait) });

/** Maximum length of a text to send. */
const MAX_TEXT = 65_536;

/** Common to the verbs on processes. */
const onProcesses = { bare: "target", output: bulkResult } as const;

/** Their route, which answers only a status if the verb worked for every process. */
function route(word: string, answers: string, done?: string) {
  const path = `/processes/{id}/${word}`;
  return { method: "POST", path, answers, answer: statusOnly(done) } as const;
}

const cells = z.int().check(z.minimum(1), z.maximum(10_000));

export const BULK_VERBS = {
  stop: verb({
    ...onProcesses,
    help: "Stop a process and everything that it started",
    role: "operate",
    reach: "target",
    input: stop,
    rest: [{
      ...route("stop", "Stopped", "stopped"),
      query: ["force", "timeout"],
      defaults: { timeout: "5s" },
    }],
    mcp: {
      tool: "stop_app",
      title: "Stop app",
      description: "Stop apps and every process they started; they stay registered.",
      input: z.pick(stop, { target: true, force: true, timeout: true }),
      destructive: true,
      idempotent: true,
    },
  }),
  restart: verb({
    ...onProcesses,
    help: "Stop and start",
    role: "operate",
    reach: "target",
    input: waiting,
    rest: [{ ...route("restart", "Restarted", "restarted"), query: ["wait"] }],
    mcp: {
      tool: "restart_app",
      title: "Restart app",
      description: "Stop and start apps, or start stopped ones; answers once they have stayed up.",
      input: onTarget,
      destructive: true,
    },
  }),
  reload: verb({
    ...onProcesses,
    help: "Reload by the reload signal, or stop and start",
    role: "operate",
    reach: "target",
    input: waiting,
    rest: [{ ...route("reload", "Reloaded", "reloaded"), query: ["wait"] }],
    mcp: {
      tool: "reload_app",
      title: "Reload app",
      description: "Reload apps gracefully: by their reload signal, by overlap, or by a restart.",
      input: onTarget,
      destructive: true,
    },
  }),
  delete: verb({
    ...onProcesses,
    help: "Stop and delete a process",
    role: "admin",
    reach: "target",
    input: onTarget,
    rest: [{
      method: "DELETE",
      path: "/processes/{id}",
      answers: "Deleted",
      answer: statusOnly("deleted"),
    }],
    mcp: {
      tool: "delete_app",
      title: "Delete app",
      description: "Stop and delete apps. Their logs stay on the disk.",
      input: onTarget,
      destructive: true,
      idempotent: true,
    },
  }),
  signal: verb({
    ...onProcesses,
    help: "Send a signal to the app itself",
    role: "operate",
    reach: "target",
    input: z.strictObject({ target, signal: z.union([z.string(), z.int()]) }),
    rest: [{ ...route("signal", "Status"), body: "Signal" }],
  }),
  send: verb({
    ...onProcesses,
    help: "Write a text to the standard input of apps with `stdin` or `tty`",
    role: "operate",
    reach: "target",
    isOften: true,
    input: z.strictObject({
      target,
      text: about(
        z.string().check(z.minLength(1), z.maxLength(MAX_TEXT)),
        "Sent as it is: a program that reads lines needs a newline at the end",
      ),
    }),
    rest: [{ ...route("send", "Status"), body: "Send" }],
  }),
  attach: verb({
    help:
      "Set the size of an app's terminal to that of the attaching client; GET /attach streams it",
    role: "operate",
    reach: "target",
    isOften: true,
    input: z.strictObject({ target, columns: cells.clone(), rows: cells.clone() }),
    output: z.object({ name: about(z.string(), "Name of the process") }),
  }),
  flush: verb({
    ...onProcesses,
    help: "Empty the logs",
    role: "operate",
    reach: "target",
    input: onTarget,
    rest: [route("flush", "Status")],
  }),
};

/** Options for replacing instances. */
const batches = {
  batch_size: about(
    z.optional(count),
    "instances at a time: a number, or a part such as 25%; default 1",
  ),
  wait_ready: about(z._default(flag, true), "continue only when a batch is ready"),
};

const reconfigureRoute = {
  path: "/processes/{id}",
  query: ["batch_size", "wait_ready", "rollback_on_failure"],
  body: "ProcessConfigPatch",
  bodyField: "config",
  answers: "Reconfigured",
};

const instances = about(count.clone(), '`4`, `"+2"` or `"-1"`');

export const INSTANCE_VERBS = {
  scale: verb({
    ...onProcesses,
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
    mcp: {
      tool: "roll_app",
      toolset: "deploy",
      title: "Roll app",
      description: "Reload the instances of an app in batches, so that it stays available. " +
        "Stops at the first batch that fails.",
      input: z.strictObject({ target, batch_size: batches.batch_size }),
      destructive: true,
    },
  }),
  reconfigure: verb({
    help: "Change the configuration; what runs is replaced only where a changed key needs it",
    role: "admin",
    reach: "target",
    input: z.strictObject({
      target,
      config: about(
        z.record(z.string(), z.unknown()),
        "A merge patch (RFC 7396) in wire form: maps are merged, `null` removes a key",
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
    }),
    output: z.extend(rollingResult, {
      status: about(
        z.enum(["unchanged", "changed", "reloaded", "rolled_back", "failed"]),
        "`changed`: nothing had to be replaced",
      ),
      restarted: about(z.boolean(), "Whether the run was replaced"),
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
