/** The verbs on the daemon itself: saved state, token, shutdown, host and ports. */

import * as z from "zod/mini";
import { about, bulkResult, flag, nothing, time } from "../shapes.ts";
import { verb } from "../verb.ts";

/** Host and daemon; memory in bytes. */
const metrics = z.object({
  total_memory: about(z.number(), "Memory of the machine"),
  used_memory: about(z.number(), "Memory used by programs"),
  free_memory: about(z.number(), "Unused memory"),
  available_memory: about(z.number(), "Memory that programs could get"),
  swap_total: about(z.number(), "Size of the swap space"),
  swap_used: about(z.number(), "Used swap space"),
  cpu_count: about(z.number(), "Cores"),
  cpu_percent: about(z.number(), "Percent of all cores together"),
  cpu_load_1: about(z.number(), "Load average of one minute"),
  cpu_load_5: about(z.number(), "Load average of five minutes"),
  cpu_load_15: about(z.number(), "Load average of fifteen minutes"),
  uptime_seconds: about(z.number(), "Seconds since the machine booted"),
  process_count: about(z.number(), "Processes under supervision"),
  hostname: about(z.string(), "Name of the machine"),
  platform: about(z.string(), "`linux` or `darwin`"),
  arch: about(z.string(), "`x86_64` or `aarch64`"),
  daemon: about(
    z.object({
      pid: z.int(),
      version: z.string(),
      memory_bytes: z.int(),
      uptime_seconds: z.int(),
      restarts_last_hour: about(
        z.int(),
        "Automatic restarts of processes since this daemon started, within the last hour",
      ),
      releases: about(
        z.object({ done: z.int(), failed: z.int(), rolled_back: z.int(), superseded: z.int() }),
        "Changes of apps that ended since this daemon started, by their result",
      ),
    }),
    "The daemon itself",
  ),
});

export const DAEMON_VERBS = {
  ping: verb({
    help: "Check that the daemon answers; needs no token",
    role: "open",
    reach: "nothing",
    input: nothing,
    output: z.object({
      status: about(z.literal("ok"), "The daemon answers"),
      version: about(z.string(), "Version of procsup"),
      protocol: about(z.int(), "Number of the IPC protocol"),
    }),
    rest: [{ method: "GET", path: "/ping", answers: "Ping" }],
  }),
  save: verb({
    help: "Save the list",
    role: "operate",
    reach: "everything",
    input: z.strictObject({
      allow_empty: about(z._default(flag, false), "save even when there is nothing to save"),
    }),
    output: z.object({ status: z.literal("saved"), count: z.int() }),
    rest: [{ method: "POST", path: "/save", query: ["allow_empty"], answers: "Saved" }],
    mcp: {
      tool: "save_state",
      title: "Save state",
      description: "Save the list of apps to the disk, for resurrect_processes.",
      input: z.strictObject({}),
      idempotent: true,
    },
  }),
  resurrect: verb({
    help: "Restore the saved list",
    role: "admin",
    reach: "everything",
    input: nothing,
    output: z.object({
      status: about(z.literal("resurrected"), "All were tried"),
      count: about(z.int(), "Number of restored processes"),
      errors: about(z.array(z.string()), "Error messages"),
    }),
    rest: [{ method: "POST", path: "/resurrect", answers: "Resurrected" }],
    mcp: {
      tool: "resurrect_processes",
      title: "Resurrect processes",
      description:
        "Restore the saved apps that no longer exist, and start those that were running.",
      input: z.strictObject({}),
      idempotent: true,
      openWorld: true,
    },
  }),
  system_metrics: verb({
    help: "The machine and the daemon",
    role: "read",
    reach: "figures",
    input: nothing,
    output: metrics,
    rest: [{ method: "GET", path: "/system/metrics", answers: "SystemMetrics" }],
  }),
  system_info: verb({
    help: "Folders of the daemon, and free disk space",
    role: "read",
    reach: "nothing",
    input: nothing,
    output: z.object({
      home: about(z.string(), "The daemon's home"),
      socket: about(z.string(), "Its Unix socket"),
      saved_at: about(z.nullable(time), "Time of the last `save`; null if there was none"),
      disk_total: about(z.int(), "Bytes of the home's file system; 0 if unknown"),
      disk_available: about(z.int(), "Bytes of it that are available to the user"),
    }),
    rest: [{ method: "GET", path: "/system/info", answers: "SystemInfo" }],
  }),
  ports: verb({
    help: "Which processes listen on which TCP ports",
    role: "read",
    reach: "apps",
    input: nothing,
    output: z.array(z.object({
      name: about(z.string(), "Name of the process"),
      id: about(z.string(), "First 8 characters of the UUID"),
      ports: about(
        z.array(z.object({ port: z.int(), address: z.string() })),
        "Listening addresses",
      ),
    })),
    rest: [{ method: "GET", path: "/ports", answers: "Ports" }],
  }),
  contexts: verb({
    help: "What runs on this machine and in the contexts of the daemon's user",
    // It contacts other machines with the rights of the daemon's user.
    role: "admin",
    reach: "everything",
    input: nothing,
    output: z.array(z.object({
      context: about(z.string(), "Name of the context; `local` is this machine"),
      destination: about(z.string(), "Host for ssh, or engine; empty for this machine"),
      error: about(z.optional(z.string()), "Why it does not answer"),
      url: about(z.optional(z.string()), "Its dashboard, if other machines reach it"),
      apps: z.array(z.object({
        name: about(z.string(), "Name of the process, or of the copy on an engine"),
        state: about(z.string(), "State of the process, or the word of the engine"),
        ready: about(z.boolean(), "Whether it runs and is ready"),
        reason: about(z.string(), "Reason for its state, if there is one"),
      })),
    })),
    rest: [{ method: "GET", path: "/contexts", answers: "Contexts" }],
  }),
  token: verb({
    help: "The daemon's own token, or a new one",
    role: "admin",
    reach: "everything",
    input: z.strictObject({ rotate: z._default(flag, false) }),
    output: z.object({ token: z.string() }),
  }),
  release: verb({
    help: "End the daemon but leave every process running, for the next daemon to adopt",
    role: "admin",
    reach: "everything",
    input: z.strictObject({
      upgrade_to: about(
        z.optional(z.string().check(z.maxLength(100))),
        "Version of the next daemon: streams announce it to their clients",
      ),
    }),
    output: z.object({ status: z.literal("released"), pid: z.int() }),
  }),
  shutdown: verb({
    help: "Stop every process, and then the daemon",
    role: "admin",
    reach: "everything",
    input: nothing,
    output: bulkResult,
  }),
};
