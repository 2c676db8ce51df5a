/** `add` creates a process and starts it; `start` starts existing processes. */

import * as z from "zod/mini";
import {
  about,
  bulkResult,
  configKeys,
  flag,
  keysOrYaml,
  processInfo,
  processResult,
  routeForMany,
  targets,
  text,
  wait,
} from "../shapes.ts";
import { verb } from "../verb.ts";

/** The first process, and the results for all. */
const started = z.extend(processInfo, {
  results: z.array(processResult),
  from_shell: about(
    z.optional(z.array(z.string())),
    "Variables of a new process's `shell_env` whose values differ from the daemon's",
  ),
});
type Started = z.output<typeof started>;

/** The answer of REST to a new process. */
const added = z.extend(processInfo, {
  results: about(z.optional(z.array(processResult)), "If it did not work for every instance"),
});

const tool = z.strictObject({
  name: about(z.optional(text), "Unique name; default: from the entrypoint"),
  entrypoint: about(
    text.clone(),
    "Absolute path of a script or program, or the name of a program on PATH; no arguments: they " +
      "go into `args`",
  ),
  runtime: about(
    z.optional(z.enum(["go", "python", "node", "bun", "deno", "ruby", "php", "auto", ""])),
    "What runs it; default: from the name and folder of the entrypoint",
  ),
  cwd: about(
    z.optional(z.string()),
    "Absolute directory; default: that of the entrypoint. Needed for a command without a path " +
      "where the server has no directory of its own",
  ),
  args: z.optional(z.array(z.string())),
  env: about(
    z.optional(z.record(z.string(), z.string())),
    "Variables in addition to the daemon's environment",
  ),
  restart_policy: about(
    z.optional(z.enum(["always", "on-failure", "never"])),
    "What to do when it ends by itself; default: on-failure",
  ),
  config: z.optional(configKeys),
});

const startedBulk = {
  answers: "BulkResult",
  answer: {
    schema: bulkResult,
    of: ({ results }: Started) => ({ status: "started", results }),
  },
} as const;

/** On the wire, `start` with a configuration means `add`: see `readVerb`. */
export const START_VERBS = {
  add: verb({
    help: "Create a process and start it",
    role: "admin",
    reach: "everything",
    input: z.strictObject({
      config: about(
        keysOrYaml.clone(),
        "All configuration keys, in wire form, or their text in YAML",
      ),
      start: about(z._default(flag, true), "False: only create it"),
      wait: z.optional(wait),
    }),
    output: started,
    rest: [{
      method: "POST",
      path: "/processes",
      query: ["start", "wait"],
      body: "ProcessConfig",
      bodyField: "config",
      answers: "AddedProcess",
      answer: {
        schema: added,
        of: ({ results, from_shell: _, ...process }: Started) =>
          results.every(({ ok }) => ok) ? process : { ...process, results },
      },
      status: 201,
    }],
    mcp: {
      tool: "start_app",
      title: "Start app",
      description:
        "Start a new app, or a job if `config` has `cron`, and supervise it; answers once it has " +
        "stayed up, or failed. To start an existing app, use restart_app. An app that failed stays " +
        "registered and can be started again: get_status shows why it failed, delete_app removes it.",
      input: tool,
      openWorld: true,
    },
  }),
  start: verb({
    help: "Start processes that exist",
    role: "operate",
    reach: "target",
    input: z.strictObject({ target: targets, wait: z.optional(wait) }),
    bare: "target",
    output: started,
    rest: [
      { method: "POST", path: "/processes/{id}/start", query: ["wait"], ...startedBulk },
      { ...routeForMany("start"), ...startedBulk },
    ],
  }),
};
