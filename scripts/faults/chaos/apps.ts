/** The apps of a chaos run, one for each kind of behavior. */

import { fromFileUrl } from "@std/path";

const APP = fromFileUrl(import.meta.resolve("./app.pl"));

/** A process configuration in wire form. */
export type Wire = Record<string, unknown> & { readonly name: string };

/** Largest number of simultaneous lives of an instance. */
const OVERLAP = { CHAOS_SLOTS: "2" };

/** Configurations of the run. Apps and hooks write their records to `folder`. */
export function chaosApps(folder: string, port: number): Wire[] {
  const app = (name: string, env: Record<string, string>, more: Record<string, unknown> = {}) => ({
    name,
    entrypoint: APP,
    interpreter: "/usr/bin/perl",
    cwd: "/",
    env: { CHAOS_DIR: folder, ...env },
    min_uptime: "100ms",
    stop_timeout: "1500ms",
    // Archives are small and many, because none may be deleted while lines are counted.
    log: { max_size: "64KB", max_files: 1000, max_age: "24h" },
    ...more,
  });
  const hook = `echo "$PROCSUP_EVENT $PROCSUP_NAME $PROCSUP_PID" >>${folder}/hooks`;
  const hooks = Object.fromEntries(
    ["pre_start", "post_start", "pre_stop", "post_stop", "pre_restart", "post_restart"]
      .map((event) => [event, { command: hook, timeout: "5s" }]),
  );
  // Two simultaneous hooks of an event are checked like two lives.
  const slow = {
    command: `exec 9>>${folder}/locks/hook.$PROCSUP_EVENT; flock -n 9 || ` +
      `echo "$PROCSUP_EVENT of $PROCSUP_NAME at $(date +%T)" >>${folder}/doubles; sleep 0.4`,
    timeout: "5s",
  };
  const fast = { restart_delay: "50ms", backoff_max: "400ms", max_restarts: 1000 };
  return [
    app("writer", { PACE: "0.002" }),
    app("many", {}, { instances: 3 }),
    app("sock", {}, { instances: 2, sockets: [`127.0.0.1:${port}`] }),
    app("lap", OVERLAP, { instances: 2, overlap: true, ready_delay: "150ms" }),
    app("coder", { MODE: "exit:23", AFTER: "0.6" }, fast),
    app("giver", { MODE: "exit:5", AFTER: "0.3" }, {
      ...fast,
      max_restarts: 3,
      restart_window: "1h",
    }),
    app("segv", { MODE: "signal:SEGV", AFTER: "0.8" }, fast),
    app("job", { MODE: "job", AFTER: "1.2" }, {
      cron: { schedule: "* * * * * *", overlap: "skip" },
    }),
    app("base", { MODE: "ready" }, { wait_ready: true }),
    app("middle", {}, { depends_on: ["base"] }),
    app("top", {}, { depends_on: { middle: "started", base: "ready" } }),
    app("hooked", {}, { hooks }),
    app("slow", {}, { hooks: { pre_start: slow, pre_stop: slow } }),
    app("checked", {}, {
      health_check: { type: "command", command: "exit 0", interval: "300ms", timeout: "2s" },
    }),
    app("watched", {}, { cwd: `${folder}/watched`, watch: { enabled: true, debounce: "50ms" } }),
    app("selfish", { MODE: "writes" }, {
      cwd: `${folder}/selfish`,
      watch: { enabled: true, debounce: "20ms" },
    }),
    app("forker", { MODE: "fork", AFTER: "1.5" }, fast),
    app("stubborn", { MODE: "fork:deaf", AFTER: "1.5" }, fast),
    app("stray", { MODE: "stray:deaf", AFTER: "2" }, fast),
    app("aged", {}, { ...fast, max_age: "1500ms" }),
    app("deaf", { MODE: "deaf" }, { stop_timeout: "500ms" }),
  ];
}

/** Apps of which several lives may run while they are replaced. */
export function mayOverlap(name: string): boolean {
  return name.startsWith("lap");
}
