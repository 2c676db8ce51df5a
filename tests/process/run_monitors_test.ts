/** What goes along with a run: the same with one that was launched and with one that was adopted. */

import { assertEquals } from "@std/assert";
import { NEW, type Snapshot } from "../../src/model/process_state.ts";
import { MONITORS } from "../../src/process/run_monitors.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";
import { LoneProcess } from "./lone_process.ts";

interface Case {
  readonly config: Record<string, unknown>;
  /** Makes the monitor act. */
  readonly act: (lone: LoneProcess) => void;
  /** How it stands before; running unless given. */
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
  watch: {
    config: { watch: { enabled: true, debounce: "1ms" } },
    act: ({ process }) => Deno.writeTextFileSync(`${process.config.cwd}/changed`, ""),
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

Deno.test("every monitor has its case here", () => {
  assertEquals(Object.keys(CASES), Object.keys(MONITORS));
});

for (const [name, { config, act, before = "running" }] of Object.entries(CASES)) {
  for (const how of ["launched", "adopted"] as const) {
    Deno.test(`${name} goes along with a run that was ${how}`, async () => {
      await using folder = tempHome();
      const keys = { ...config, cwd: folder.path };
      await using lone = new LoneProcess(keys, how === "adopted" ? leftIn(before) : NEW);
      if (how === "launched") void lone.process.start().catch(() => {});
      else adopt(lone);
      await waitFor(() => lone.world.children.length > 0);
      // Either it has become ready, or another run takes its place.
      await waitFor(() => {
        if (lone.state === before && lone.world.children.length === 1) act(lone);
        return before === "starting" ? lone.state === "running" : lone.world.children.length > 1;
      });
    });
  }
}

const RUN = { runId: "run", wrapperPid: 1000, wrapperStart: "1", bootId: "boot" };

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
