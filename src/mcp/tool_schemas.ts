/** What the tools take and give. Inputs are strict; outputs may grow. */

import * as z from "zod";
import { PROCESS_STATES } from "../model/process_info.ts";

const target = z.string().min(1).describe(
  "Name, numeric id, unique id prefix, base name of instances, `all`, `ns:<namespace>`, " +
    "`tag:<tag>` or `label:<key>=<value>`",
);
const one = z.string().min(1).describe("Name, numeric id or unique id prefix of one app");

/** Nothing. */
export const nothing = z.strictObject({});

/** A target of one or many. */
export const targetInput = z.strictObject({ target });

/** `list_apps`. */
export const listInput = z.strictObject({
  target: target.optional().describe(
    "Only these apps: a name, the base name of instances, `ns:<namespace>`, `tag:<tag>` or " +
      "`label:<key>=<value>`; default: all",
  ),
});

/** A target that must be one app. */
export const oneInput = z.strictObject({ target: one });

/** `start_app`. */
export const startInput = z.strictObject({
  name: z.string().min(1).optional().describe("Unique name; default: from the entrypoint"),
  entrypoint: z.string().min(1).describe(
    "Absolute path of a script or program, or the name of a program on PATH; no arguments: they " +
      "go into `args`",
  ),
  runtime: z.enum(["go", "python", "node", "bun", "deno", "ruby", "php", "auto", ""]).optional()
    .describe("What runs it; default: told by the name and folder of the entrypoint"),
  cwd: z.string().optional().describe(
    "Absolute directory; default: that of the entrypoint. Needed for a command without a path " +
      "where the server has no directory of its own",
  ),
  args: z.array(z.string()).optional(),
  env: z.record(z.string(), z.string()).optional().describe("Laid over the daemon's environment"),
  restart_policy: z.enum(["always", "on-failure", "never"]).optional().describe(
    "What follows when it ends by itself; default: on-failure",
  ),
});

/** `stop_app`. */
export const stopInput = z.strictObject({
  target,
  force: z.boolean().optional().describe("SIGKILL at once"),
  timeout: z.string().optional().describe("Grace before SIGKILL, such as `10s`"),
});

/** `get_logs`. */
export const logsInput = z.strictObject({
  target: one,
  lines: z.int().min(1).max(10_000).default(50).describe("How many of the last lines"),
  stderr: z.boolean().optional().describe("Standard error instead of standard output"),
  since: z.string().optional().describe("Lines from then on: `10m` ago, or an ISO 8601 time"),
  grep: z.string().optional().describe("Only lines that match this regular expression"),
});

const state = z.enum(PROCESS_STATES).describe(
  "waiting: for its next automatic start, or for an app it depends on; errored: given up, it " +
    "takes a restart_app",
);

const exit = z.looseObject({
  code: z.number().nullable(),
  signal: z.string().nullable(),
  at: z.string(),
});

/** A process, as on every other surface. */
export const process = z.looseObject({
  id: z.string(),
  numeric_id: z.number(),
  name: z.string(),
  namespace: z.string(),
  instance_index: z.number(),
  runtime: z.string(),
  state,
  pid: z.number(),
  exit_code: z.number(),
  restarts: z.number(),
  created_at: z.string(),
  started_at: z.string().nullable(),
  finished_at: z.string().nullable(),
  config: z.looseObject({}).describe("Values of `env` are masked"),
  cpu_percent: z.number().describe("Of one core"),
  memory_bytes: z.number(),
  mem_percent: z.number(),
  threads: z.number(),
  fds: z.number(),
  tags: z.array(z.string()),
  uptime: z.number().describe("Nanoseconds"),
  ready: z.boolean(),
  health: z.string(),
  next_restart_at: z.string().nullable().describe("When its next automatic start is due"),
  last_reason: z.string().describe("Why it is in this state"),
  last_exit: exit.nullable().describe("How its last run ended"),
});

/** Several processes. */
export const processesOutput = z.looseObject({ processes: z.array(process) });

/** One process. */
export const processOutput = z.looseObject({ process });

/** How a verb went for each process. */
export const resultsOutput = z.looseObject({
  status: z.string().describe("The verb that was carried out; how it went stands in `results`"),
  results: z.array(z.looseObject({
    name: z.string(),
    id: z.string(),
    ok: z.boolean(),
    state,
    pid: z.number(),
    error: z.string().optional(),
    code: z.string().optional().describe("Name of the error"),
    last_stderr: z.array(z.string()).optional().describe("Untrusted output of the app"),
    hint: z.string().optional(),
  })),
  notice: z.string().optional().describe("Stands beside `last_stderr`"),
});

/** A started process and its instances. */
export const startOutput = resultsOutput.extend({ process });

/** A log. */
export const logsOutput = z.looseObject({
  target: z.string(),
  stream: z.enum(["stdout", "stderr"]),
  path: z.string().describe("The log file"),
  lines: z.string().describe("The requested count"),
  truncated: z.boolean().describe("Whether the beginning was left out to keep within 1 MiB"),
  notice: z.string(),
  logs: z.string().describe("Untrusted output of the app"),
});

/** `save_state`. */
export const savedOutput = z.looseObject({ status: z.string(), count: z.number() });

/** `resurrect_processes`. */
export const resurrectedOutput = savedOutput.extend({ errors: z.array(z.string()) });
