/** Monitors of a run: the same for a launched and an adopted run. */

import { assertEquals } from "@std/assert";
import { NEW, type Snapshot } from "../../src/model/process_state.ts";
import { MONITORS } from "../../src/process/run_monitors.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";
import { LoneProcess } from "./lone_process.ts";

interface Case {
  readonly config: Record<string, unknown>;
  /** Triggers the monitor. */
  readonly act: (lone: LoneProcess) => void;
  /** The state before; running by default. */
  readonly before?: "starting";
}

const CASES: Readonly<Record<keyof typeof MONITORS, Case>> = {
  readiness: {
    config: { wait_ready: true },
    act: ({ world }) => world.sayReady(),
    before: "starting",
  },
  healthCheck: {
    config: { health_check: { type: "command", command: "exit 1", retries: 1 } },
    act: () => {},
  },
  notify: {
    config: { watchdog: "30s", restart_delay: "0s" },
    act: ({ world }) => world.clock.advance(30_000),
  },
  idle: {
    config: { sockets: ["127.0.0.1:8080"], start_on: "connection", idle_timeout: "10m" },
    act: ({ world }) => world.clock.advance(600_000),
  },
  maxAge: {
    config: { max_age: "1h" },
    act: ({ world }) => world.clock.advance(3_600_000),
  },
  maxMemory: {
    config: { max_memory: "1MB" },
    act: ({ world }) => world.useMemory(2_000_000),
  },
};

Deno.test("every monitor has a case here", () => {
  assertEquals(Object.keys(CASES), Object.keys(MONITORS));
});

for (const [name, { config, act, before = "running" }] of Object.entries(CASES)) {
  for (const how of ["launched", "adopted"] as const) {
    Deno.test(`${name} monitors a run that was ${how}`, async () => {
      await using folder = tempHome();
      const keys = { ...config, cwd: folder.path };
      await using lone = new LoneProcess(keys, how === "adopted" ? leftIn(before) : NEW);
      if (how === "launched") void lone.process.start().catch(() => {});
      else adopt(lone);
      await waitFor(() => {
        lone.world.connectClient?.();
        return lone.world.children.length > 0;
      });
      // Either the run has become ready, or another run has replaced it.
      await waitFor(() => {
        lone.world.connectClient?.();
        if (lone.state === before && lone.world.children.length === 1) act(lone);
        return before === "starting" ? lone.state === "running" : lone.world.children.length > 1;
      });
    });
  }
}

const RUN = {
  ...{ runId: "run", wrapperPid: 1000, wrapperStart: "1", bootId: "boot" },
  notify: true,
} as const;

function leftIn(state: "running" | "starting"): Snapshot {
  return {
    ...NEW,
    state,
    desired: "up",
    attempt: 1,
    run: RUN,
    pid: 1001,
    ready: state === "running",
  };
}

function adopt({ process, world }: LoneProcess): void {
  const found = { kind: "alive", run: RUN, pid: 1001 } as const;
  process.post({ type: "recovered", at: world.clock.now(), found });
}
