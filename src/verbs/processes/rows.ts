/** The verbs that stop, restart, reload and signal processes, and write to them. */

import * as z from "zod/mini";
import {
  about,
  bulkResult,
  duration,
  flag,
  onTarget,
  onTargets,
  routeForMany,
  statusOnly,
  target,
  targets,
  wait,
} from "../shapes.ts";
import { batches } from "../apps/rows.ts";
import { verb } from "../verb.ts";

const stop = z.strictObject({
  target: targets,
  force: about(z.optional(flag), "SIGKILL at once"),
  timeout: about(z.optional(duration), "Grace before SIGKILL, such as `10s`"),
  parallel: about(z.optional(flag), "Stop all at once (default) instead of one after the other"),
  graceful: about(z.optional(flag), "False kills at once, like `force`. Default true."),
});

const waiting = z.strictObject({ target: targets, wait: z.optional(wait) });

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

export const PROCESS_VERBS = {
  stop: verb({
    ...onProcesses,
    help: "Stop a process and everything that it started",
    role: "operate",
    reach: "target",
    input: stop,
    rest: [
      {
        ...route("stop", "Stopped", "stopped"),
        query: ["force", "timeout"],
        defaults: { timeout: "5s" },
      },
      routeForMany("stop"),
    ],
    mcp: {
      tool: "stop_app",
      title: "Stop app",
      description: "Stop apps and every process they started; they stay registered.",
      input: z.extend(z.pick(stop, { force: true, timeout: true }), onTarget.shape),
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
    rest: [
      { ...route("restart", "Restarted", "restarted"), query: ["wait"] },
      routeForMany("restart"),
    ],
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
    rest: [
      { ...route("reload", "Reloaded", "reloaded"), query: ["wait"] },
      routeForMany("reload"),
    ],
    mcp: {
      tool: "reload_app",
      title: "Reload app",
      description: "Reload apps gracefully: by their reload signal, by overlap, or by a restart. " +
        "With `batch_size` one app, which stays available; stops at the first batch that fails.",
      input: z.strictObject({ target, batch_size: batches.batch_size }),
      destructive: true,
    },
  }),
  delete: verb({
    ...onProcesses,
    help: "Stop and delete a process",
    role: "admin",
    reach: "target",
    input: onTargets,
    rest: [
      {
        method: "DELETE",
        path: "/processes/{id}",
        answers: "Deleted",
        answer: statusOnly("deleted"),
      },
      routeForMany("delete"),
    ],
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
    input: z.strictObject({ target: targets, signal: z.union([z.string(), z.int()]) }),
    rest: [{ ...route("signal", "Status"), body: "Signal" }, routeForMany("signal")],
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
    bare: "target",
    help:
      "Set the size of an app's terminal; GET /attach, or `attach` over the WebSocket, streams it",
    role: "operate",
    reach: "target",
    isOften: true,
    input: z.strictObject({ target, columns: cells.clone(), rows: cells.clone() }),
    output: z.object({ name: about(z.string(), "Name of the process") }),
    rest: [{
      method: "POST",
      path: "/processes/{id}/attach",
      help: "Set the size of an app's terminal; the WebSocket's message `attach` streams it",
      answers: "Attached",
      body: "TerminalSize",
    }],
  }),
  flush: verb({
    ...onProcesses,
    help: "Empty the logs",
    role: "operate",
    reach: "target",
    input: onTargets,
    rest: [route("flush", "Status"), routeForMany("flush")],
  }),
};
