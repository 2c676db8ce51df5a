/** What a command displays while it waits. */

import { assertEquals } from "@std/assert";
import { processLines } from "../../src/cli/progress_lines.ts";
import { PEER_HEADER, PROTOCOL, VERSION } from "../../src/protocol/version.ts";
import type { ProcessJson } from "../../src/protocol/wire.ts";
import { programLine } from "../support/procsup.ts";
import { tmuxMissing, TmuxTerminal } from "../support/tmux.ts";
import { FakeDaemon, fakeProcess } from "./fake_daemon.ts";

const SINCE = Date.parse("2026-01-01T00:00:00Z");

function process(given: Partial<ProcessJson>): ProcessJson {
  const started_at = new Date(SINCE + 500).toISOString();
  const rest = { started_at, finished_at: null, last_reason: "", config: { min_uptime: "1s" } };
  return fakeProcess({ name: "a", ...rest, ...given });
}

Deno.test("processLines() names what each starting process waits for, and skips the others", () => {
  const seconds = (n: number) => new Date(SINCE + n * 1000).toISOString();
  const ready = { wait_ready: true, listen_timeout: "30s" };
  const failed = { last_reason: "exited with code 1", next_restart_at: seconds(7) };
  const expected: [Partial<ProcessJson>, string | undefined][] = [
    [{ state: "waiting", last_reason: "waiting for db" }, "waiting for db"],
    [
      { state: "waiting", finished_at: seconds(3), ...failed },
      "exited with code 1; restarts in 3s",
    ],
    [{ state: "waiting", finished_at: seconds(-3), ...failed }, undefined],
    [{ state: "stopping", last_reason: "stopped by user" }, "stopping: stopped by user"],
    [{ state: "starting", config: {} }, "starting"],
    [{ state: "starting", config: { ready_delay: "9s" } }, "ready 9s after its start"],
    [
      { state: "starting", config: ready },
      "waiting for its notice that it is ready, at most 30s",
    ],
    [
      { state: "starting", config: { ...ready, health_check: {} } },
      "waiting for its health check, at most 30s",
    ],
    [
      { state: "starting", config: { ready_log: "up", listen_timeout: "30s" } },
      "waiting for a line that matches up, at most 30s",
    ],
    [{ state: "running", config: { min_uptime: "9s" } }, "running: has to stay up for 9s"],
    [{ state: "running" }, undefined],
    [{ state: "running", started_at: seconds(-9), config: { min_uptime: "99s" } }, undefined],
    [{ state: "stopped" }, undefined],
  ];
  for (const [given, what] of expected) {
    const lines = what === undefined ? [] : [`… a  ${what} (4s)`];
    assertEquals(processLines([process(given)], SINCE, SINCE + 4000), lines);
  }
  const many = Array.from({ length: 20 }, (_, i) => process({ name: `${i}`, state: "starting" }));
  assertEquals(processLines(many, SINCE, SINCE).at(-1), "… 8 more");
});

Deno.test({
  name: "a waiting command shows on a terminal what it waits for, and erases it afterwards",
  ignore: tmuxMissing(),
  async fn() {
    const result = Promise.withResolvers<unknown>();
    await using daemon = new FakeDaemon({
      restart: () => result.promise,
      list: () => [process({ state: "waiting", last_reason: "waiting for db" })],
    });
    daemon.headers = { [PEER_HEADER]: `0.0.1 ${PROTOCOL}` };
    await using terminal = await TmuxTerminal.open({ PROCSUP_HOME: daemon.home });
    await terminal.command(`clear; ${programLine()} restart a`);
    await terminal.sees("… a  waiting for db (");
    const results = [{ name: "a", ok: true, state: "running", pid: 7 }];
    result.resolve({ status: "restarted", results });
    const screen = await terminal.sees((screen) => /✔.*\nready\$/.test(screen));
    const note = `The daemon is version 0.0.1, this is ${VERSION}: run procsup upgrade`;
    assertEquals(screen.trim(), `${note}\n✔ a  running  pid 7\nready$`);
  },
});
