/** When a change of a watched file starts an app: with real files, in a fake world. */

import { assertEquals, assertMatch } from "@std/assert";
import { NEW, type Snapshot } from "../../src/model/process_state.ts";
import { LOOP_RESTARTS } from "../../src/model/restart_budget.ts";
import { sleep } from "../../src/platform/clock.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";
import { LoneProcess } from "./lone_process.ts";

const RUN = { runId: "run", wrapperPid: 1000, wrapperStart: "1", bootId: "boot" };
const RUNNING = { state: "running", run: RUN, pid: 1001, ready: true } as const;

/** Restarts at once. */
const QUICK = { enabled: true, debounce: "1ms" };

interface Case {
  readonly config?: Record<string, unknown>;
  /** What an earlier daemon left; otherwise it is started. */
  readonly left?: Partial<Snapshot>;
  /** What happens to it before the change. */
  readonly act?: (lone: LoneProcess) => Promise<unknown> | void;
}

const fails = ({ world }: LoneProcess) => world.children.at(-1)!.exit(1);

const STARTED: Readonly<Record<string, Case>> = {
  "was launched": {},
  "was adopted": { left: RUNNING },
  "has crashed": { config: { restart_policy: "never" }, act: fails },
  "waits for its next attempt": { config: { restart_delay: "1h" }, act: fails },
  "has used up its restarts": { config: { max_restarts: 0 }, act: fails },
  "could not be launched": {
    config: { hooks: { pre_start: "[ -e source ]" } },
    act: (lone) => waitFor(() => lone.state === "errored"),
  },
  "had failed before this daemon": { left: { state: "errored", lastReason: "exited with code 1" } },
};

const LEFT_ALONE: Readonly<Record<string, Case>> = {
  "was stopped": { act: ({ process }) => process.stop() },
  "has ended with success": { act: ({ world }) => world.children.at(-1)!.exit(0) },
  "is a job that failed": {
    config: { cron: "@daily", restart_policy: "never" },
    act: fails,
  },
};

async function changed(
  { config = {}, left, act }: Case,
  check: (lone: LoneProcess, touch: () => void) => Promise<void>,
): Promise<void> {
  await using folder = tempHome();
  const snapshot = left === undefined
    ? NEW
    : { ...NEW, desired: "up" as const, attempt: 1, ...left };
  await using lone = new LoneProcess({ watch: QUICK, cwd: folder.path, ...config }, snapshot);
  const { process, world } = lone;
  if (left === undefined) {
    void process.start().catch(() => {});
  } else {
    const run = { kind: "alive", run: RUN, pid: 1001 } as const;
    process.post({
      type: "recovered",
      at: world.clock.now(),
      found: left.run ? run : { kind: "no_run" },
    });
  }
  if (config.hooks === undefined && left?.state !== "errored") {
    await waitFor(() => lone.state === "running");
  }
  await act?.(lone);
  await check(lone, () => Deno.writeTextFileSync(`${folder.path}/source`, ""));
}

for (const [what, one] of Object.entries(STARTED)) {
  Deno.test(`a change of its source starts an app again that ${what}`, () =>
    changed(one, async (lone, touch) => {
      const before = lone.world.children.length;
      // It is not known when the watch begins.
      await waitFor(() => {
        touch();
        return lone.world.children.length > before;
      });
      assertEquals(lone.process.snapshot.restartsAt, []);
    }));
}

for (const [what, one] of Object.entries(LEFT_ALONE)) {
  Deno.test(`a change of its source does not start an app that ${what}`, () =>
    changed(one, async (lone, touch) => {
      await waitFor(() => lone.process.snapshot.run === null);
      const before = lone.world.children.length;
      touch();
      await sleep(300);
      assertEquals(lone.world.children.length, before);
    }));
}

for (
  const [name, action] of Object.entries({
    restart: {},
    reload: { watch: { action: "reload" }, reload_signal: "SIGHUP" },
    signal: { watch: { action: "signal:usr1" } },
    command: { watch: { action: "command", command: "true" } },
  })
) {
  Deno.test(`watching pauses after ten changes in a row that each follow a ${name}`, () =>
    changed(
      { config: { ...action, watch: { ...QUICK, ...action.watch } } },
      async (lone, touch) => {
        const pauses = () => lone.notes.filter((note) => note.startsWith("watching is paused"));
        await waitFor(() => {
          lone.world.clock.advance(1);
          if (lone.state === "running") touch();
          return pauses().length > 0;
        });
        assertEquals(pauses().length, 1);
        assertMatch(pauses()[0]!, /^watching is paused until the next restart: 10 .*"source"/);
        const notes = lone.notes.length;
        assertEquals(lone.process.snapshot.watchRestarts.length, LOOP_RESTARTS + 1);
        touch();
        await sleep(300);
        assertEquals(lone.notes.length, notes);
      },
    ));
}
