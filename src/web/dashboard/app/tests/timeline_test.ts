/** The drawings of the dashboard: lanes of the timeline, axes, and the graph. Pure. */

import { assert, assertEquals } from "@std/assert";
import { GAP, layOut, NODE, pathOf } from "../graph/graph_layout.ts";
import { apart, type Mark, ticksIn, tickText } from "../host/time_axis.ts";
import { type Happened, isFailure, type Lane, lanesOf, moves } from "../timeline/lanes.ts";
import { fakeProcess } from "../../../../../tests/cli/fake_daemon.ts";

type EventJson = Happened["events"][number];

const NOON = Date.UTC(2026, 0, 1, 12);
const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];

/** An event some minutes after the begin of the range. */
function event(minute: number, name: string, more: Partial<EventJson>): EventJson {
  const at = new Date(NOON + minute * MINUTE).toISOString();
  const usual = { id: name, pid: 1, restarts: 0, reason: "", exit: null } as const;
  return { type: "running", state: "running", at, name, ...usual, ...more };
}

/** The lanes of an hour. */
function lanes(happened: Partial<Happened>): readonly Lane[] {
  const nothing = { events: [], processes: [], jobs: [] };
  return lanesOf({ ...nothing, from: NOON, to: NOON + HOUR, ...happened });
}

/** The states as `state from-to`, in minutes. */
function states({ states }: Lane): readonly string[] {
  const minute = (at: number) => (at - NOON) / MINUTE;
  return states.map(({ state, from, to }) => `${state} ${minute(from)}-${minute(to)}`);
}

const known = (name: string, more: object = {}) => ({
  ...{ name, state: "running" as const, health: "unknown" as const },
  created_at: new Date(NOON - DAY).toISOString(),
  ...more,
});

Deno.test("lanesOf() colours a lane by what is known before, between and after the events", () => {
  const rows: [readonly EventJson[], readonly string[]][] = [
    [[], ["running 0-60"]],
    [[event(10, "a", { type: "crashed", state: "crashed", cause: "crash" })], [
      ...["running 0-10", "crashed 10-60"],
    ]],
    [
      [
        event(10, "a", { type: "crashed", state: "waiting", cause: "crash" }),
        event(12, "a", { type: "restarted" }),
      ],
      ["running 0-10", "waiting 10-12", "running 12-60"],
    ],
    // It ran until a user replaced the run.
    [[event(10, "a", { cause: "user" })], ["running 0-60"]],
    [[event(10, "a", {})], ["stopped 0-10", "running 10-60"]],
    [
      [
        event(5, "a", { type: "added", state: "stopped" }),
        event(6, "a", {}),
        event(9, "a", { type: "unhealthy" }),
        event(10, "a", { type: "note" }),
        event(20, "a", { type: "healthy" }),
        event(30, "a", { type: "deleted", state: "stopped" }),
      ],
      [
        ...["absent 0-5", "stopped 5-6", "running 6-9", "unhealthy 9-20", "running 20-30"],
        "absent 30-60",
      ],
    ],
  ];
  for (const [events, expected] of rows) {
    assertEquals(states(lanes({ events, processes: [known("a")] })[0]!), expected);
  }
  const later = new Date(NOON + DAY).toISOString();
  const rest = [known("b", { health: "unhealthy" }), known("c", { created_at: later })];
  assertEquals(lanes({ processes: rest }).map(states), [["unhealthy 0-60"], ["absent 0-60"]]);
});

Deno.test("lanesOf() shows the most urgent state of an app's instances", () => {
  const [lane] = lanes({
    processes: [known("a:0"), known("a:1"), known("a:2", { state: "stopped" })],
    events: [
      event(10, "a:1", { type: "crashed", state: "waiting", cause: "crash" }),
      event(20, "a:1", { type: "restarted" }),
      event(15, "a:0", { type: "unhealthy" }),
      event(40, "a:0", { type: "healthy" }),
    ],
  });
  assertEquals(lane!.name, "a");
  assertEquals(states(lane!), [
    ...["running 0-10", "waiting 10-15", "unhealthy 15-40", "running 40-60"],
  ]);
});

Deno.test("lanesOf() has each end with its cause, releases, and runs of jobs; failures come first", () => {
  const at = (minute: number) => new Date(NOON + minute * MINUTE).toISOString();
  const run = (from: number, to: number, status: "ok" | "failed" | "skipped") => ({
    ...{ started_at: at(from), finished_at: at(to), status, exit_code: 0 },
  });
  const job = { ...{ name: "job", type: "job" as const, schedule: "", timezone: "UTC" } };
  const more = { enabled: true, running: false, last_run: null, last_status: null };
  const history = [
    run(-9, -8, "ok"),
    run(-1, 2, "ok"),
    run(30, 31, "failed"),
    run(40, 40, "skipped"),
  ];
  const shown = lanes({
    processes: [known("calm"), known("job"), known("web")],
    events: [
      event(5, "web", { type: "released", by: "owner", reason: "env" }),
      event(6, "web", { cause: "release" }),
      event(7, "web", { type: "restarted", cause: "memory", reason: "too much\nand more" }),
      event(8, "web", { type: "asked", reason: "restart" }),
    ],
    jobs: [{ ...job, ...more, last_exit_code: null, next_run: null, overdue_since: null, history }],
  });
  assertEquals(shown.map(({ name }) => name), ["web", "job", "calm"]);
  assertEquals(shown[0]!.ticks.map(({ kind, text }) => `${kind} ${text}`), [
    ...["released env", "release ", "memory too much"],
  ]);
  assertEquals(shown[1]!.runs.map(({ from, ok }) => [(from - NOON) / MINUTE, ok]), [
    ...[[-1, true], [30, false]],
  ]);
});

Deno.test("an alert is a failure in the lane of its app, whose state it does not change; the host has no lane", () => {
  const [lane, ...others] = lanes({
    processes: [known("web")],
    events: [
      event(5, "web", { type: "unhealthy" }),
      event(6, "web", { type: "alert", alert: "cpu > 1%", reason: "cpu > 1%: 9%" }),
      event(7, "web", { type: "alert_resolved", alert: "cpu > 1%", reason: "cpu > 1%" }),
      event(8, ".host", { type: "alert", alert: "load > 8", reason: "load > 8: 9" }),
    ],
  });
  assertEquals(others, []);
  assertEquals(lane!.ticks.map(({ kind, text }) => `${kind} ${text}`), ["alert cpu > 1%: 9%"]);
  assertEquals(lane!.states.map(({ state }) => state), ["running", "unhealthy"]);
  assert(isFailure(lane!.ticks[0]!.kind));
});

Deno.test("moves() finds the apps whose figure differs most between the ends of a range", () => {
  const found = moves([
    { name: "steady", values: [10, 10.5, 10] },
    { name: "grows", values: [10, 20, 90] },
    { name: "shrinks", values: [50, 40, 30] },
    { name: "new", values: [70] },
  ], 1);
  assertEquals(found, [
    { name: "grows", before: 10, after: 90 },
    { name: "shrinks", before: 50, after: 30 },
  ]);
});

Deno.test("apart() leaves one mark of each kind in a step of time, with their number", () => {
  const mark = (at: number, kind: Mark["kind"], text: string): Mark => ({ at, kind, text });
  const marks = [
    ...[mark(29, "start", "c"), mark(21, "start", "b"), mark(20, "failure", "x")],
    mark(19, "start", "a"),
  ];
  assertEquals(apart(marks, 10), [
    ...[mark(29, "start", "c, and 1 more"), mark(20, "failure", "x"), mark(19, "start", "a")],
  ]);
});

Deno.test("ticksIn() labels round times, as many as fit", () => {
  const rows: [from: number, ms: number, most: number, step: number][] = [
    [NOON + 13_700, 15 * MINUTE, 4, 5 * MINUTE],
    [NOON + 13_700, 15 * MINUTE, 12, 2 * MINUTE],
    [NOON + 1, 20_000, 5, 5000],
    [NOON + 4_321_000, DAY, 6, 6 * HOUR],
    [NOON + 1234, 30 * DAY, 6, 7 * DAY],
  ];
  for (const [from, ms, most, step] of rows) {
    const ticks = ticksIn(from, from + ms, most);
    assert(ticks.length > 0 && ticks.length <= most + 1, `${ticks.length} of ${most}`);
    for (const [index, at] of ticks.entries()) {
      const offset = new Date(at).getTimezoneOffset() * MINUTE;
      assertEquals((at - offset) % Math.min(step, DAY), 0, new Date(at).toISOString());
      if (index > 0 && step < DAY) assertEquals(at - ticks[index - 1]!, step);
    }
  }
  assertEquals(/^\d\d:\d\d:\d\d$/.test(tickText(MINUTE)(NOON)), true);
  assertEquals(/^\d\d:\d\d$/.test(tickText(HOUR)(NOON)), true);
});

Deno.test("layOut() leads no line through a box", () => {
  const app = (name: string, ...depends_on: string[]) =>
    ({ ...fakeProcess(), name, config: { depends_on } }) as never;
  const { nodes, links, single } = layOut([
    ...[app("db"), app("cache", "db"), app("queue", "db"), app("api", "cache", "queue", "db")],
    ...[app("web", "api", "db", "cache"), app("mail", "queue"), app("alone")],
  ]);
  assertEquals(single, 1);
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const far = links.find(({ from, to }) => from === "db" && to === "web")!;
  assertEquals(far.passes.length, 2);
  for (const link of links) {
    const [from, to] = [byName.get(link.from)!, byName.get(link.to)!];
    // Between the columns it may bend; within one it is straight, at the heights of its passes.
    for (const [index, height] of link.passes.entries()) {
      const left = from.x + (index + 1) * (NODE.width + GAP.x);
      const hit = nodes.find(({ x, y }) =>
        x === left && height > y - 2 && height < y + NODE.height + 2
      );
      assertEquals(hit, undefined, `${link.from} to ${link.to} runs behind ${hit?.name}`);
    }
    assertEquals(pathOf(link, from, to).match(/H/g)?.length ?? 0, link.passes.length);
  }
  for (const [index, one] of nodes.entries()) {
    const other = nodes.slice(index + 1)
      .find(({ x, y }) => x === one.x && Math.abs(y - one.y) < NODE.height);
    assertEquals(other, undefined, `${one.name} covers ${other?.name}`);
  }
});
