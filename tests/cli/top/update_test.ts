import {
  assert,
  assertEquals,
  assertMatch,
  assertNotEquals,
  assertStringIncludes,
} from "@std/assert";
import { SORT_KEYS, wantedLogs, wantedPast, wantedWhy } from "../../../src/cli/top/state.ts";
import { app, NOW, Scene } from "./scene.ts";

const APPS = [
  app(0, "web:0", { cpu_percent: 5, memory_bytes: 10, tags: ["front"] }),
  app(1, "web:1", { cpu_percent: 50, memory_bytes: 30, instance_index: 1, tags: ["front"] }),
  app(2, "Db", { state: "errored", pid: 0, namespace: "data", restarts: 9 }),
  app(3, "cache", { cpu_percent: 20, memory_bytes: 20, config: { labels: { tier: "2" } } }),
];

Deno.test("update() keeps the cursor on its app when the order changes", () => {
  const scene = new Scene(APPS).keys("j");
  assertEquals(scene.state.visible[scene.state.cursorAt]?.name, "web:1");
  scene.keys("P");
  assertEquals(scene.names, ["web:1", "cache", "web:0", "Db"]);
  assertEquals(scene.state.cursorAt, 0);
  scene.keys("o");
  assertEquals(scene.names, ["Db", "web:0", "cache", "web:1"]);
  assertEquals(scene.state.visible[scene.state.cursorAt]?.name, "web:1");
});

Deno.test("update() keeps the cursor's row when its app is gone", () => {
  const scene = new Scene(APPS).keys("jj");
  scene.update({ type: "list", processes: APPS.filter(({ name }) => name !== "Db"), now: NOW });
  assertEquals(scene.state.cursor, APPS[3]!.id);
  scene.update({ type: "list", processes: [], now: NOW });
  assertEquals([scene.state.cursor, scene.state.cursorAt], ["", 0]);
  scene.keys("jkGx s");
  assertEquals(scene.effects, []);
  scene.update({ type: "list", processes: APPS, now: NOW });
  assertEquals(scene.state.cursor, APPS[0]!.id);
});

Deno.test("update() sorts by every key, and failures first by state", () => {
  const scene = new Scene(APPS);
  const orders = SORT_KEYS.map((key) => {
    scene.update({ type: "sort", key });
    return [key, scene.names.join(" ")];
  });
  assertEquals(Object.fromEntries(orders), {
    id: "web:0 web:1 Db cache",
    name: "cache Db web:0 web:1",
    state: "Db cache web:0 web:1",
    cpu: "web:1 cache web:0 Db",
    mem: "Db web:1 cache web:0",
    restarts: "Db cache web:0 web:1",
    uptime: "cache Db web:0 web:1",
  });
});

Deno.test("update() filters by target words, and by !word for the opposite", () => {
  const scene = new Scene(APPS);
  const shown = (filter: string) => {
    scene.keys(`/\x15${filter}\r`);
    return scene.names.join(" ");
  };
  assertEquals(shown("WEB"), "web:0 web:1");
  assertEquals(shown("tag:front :1"), "web:1");
  assertEquals(shown("ns:data"), "Db");
  assertEquals(shown("label:tier=2"), "cache");
  assertEquals(shown("label:tier"), "cache");
  assertEquals(shown("errored"), "Db");
  assertEquals(shown("state:run !tag:front"), "cache");
  assertEquals(shown("3"), "cache");
  assertEquals(shown("nothing"), "");
  assertEquals(shown("label:constructor"), "");
  assertEquals(shown("all"), "web:0 web:1 Db cache");
});

Deno.test("update() filters while typing, and can cancel", () => {
  const scene = new Scene(APPS).keys("/web\r/ca");
  assertEquals(scene.names, []);
  scene.keys("\x17cache");
  assertEquals(scene.names, ["cache"]);
  scene.keys("\x1b");
  assertEquals(scene.state.filter, "web");
  scene.keys("\x1b");
  assertEquals([scene.state.filter, scene.names.length], ["", 4]);
});

Deno.test("update() asks before it stops or deletes, but not before it starts", () => {
  const scene = new Scene(APPS).keys("xn");
  assertEquals(scene.effects, []);
  scene.keys("x");
  assertStringIncludes(scene.screen.at(-1)!, "Stop web:0? [y/N]");
  scene.keys("y");
  assertEquals(scene.effects, [{ type: "act", call: { verb: "stop", targets: ["web:0"] } }]);
  scene.keys("sd");
  assertEquals(scene.effects.length, 2);
  assertStringIncludes(scene.screen.at(-1)!, "Delete web:0?");
});

Deno.test("update() acts on the visible marked apps, and then clears the marks", () => {
  const scene = new Scene(APPS).keys("  j ");
  assertEquals(scene.state.marked.size, 3);
  scene.keys("/web\rry");
  const [effect] = scene.effects;
  assertEquals(effect, {
    type: "act",
    call: { verb: "restart", targets: ["web:0", "web:1"] },
  });
  assertEquals(scene.state.marked.size, 0);
  scene.keys("**");
  assertEquals(scene.state.marked.size, 0);
});

Deno.test("update() runs typed commands, and reports unknown ones", () => {
  const scene = new Scene(APPS);
  const said = (line: string) => scene.keys(`:${line}\r`).state.notice?.text;
  assertEquals(said("scale 4"), undefined);
  assertEquals(said("signal hup cache"), undefined);
  assertEquals(said("restart tag:front"), undefined);
  scene.keys("y");
  assertEquals(scene.effects.splice(0), [
    { type: "act", call: { verb: "scale", targets: ["web"], word: "4" } },
    { type: "act", call: { verb: "signal", targets: ["cache"], word: "SIGHUP" } },
    { type: "act", call: { verb: "restart", targets: ["web:0", "web:1"] } },
  ]);
  assertEquals(said("restrat"), 'Unknown command "restrat": did you mean "restart"?');
  assertEquals(said("stop cahce"), 'Nothing matches "cahce"; did you mean "cache"?');
  assertEquals(said("signal USR9"), 'Unknown signal "USR9": did you mean "SIGUSR1"?');
  assertEquals(said("scale"), "scale N [target]: how many?");
  assertEquals(said("sort color"), `Unknown order "color": one of ${SORT_KEYS.join(", ")}`);
  assertEquals(said("stop a b"), 'Unexpected word "b"');
  assertEquals(said("constructor"), 'Unknown command "constructor"');
  assertEquals(scene.effects, []);
  scene.keys(":sort mem\r:res\t\r");
  assertEquals(scene.state.sort.key, "mem");
  assertEquals(scene.effects.length, 1);
});

Deno.test("update() sends a signal completed with the tab key", () => {
  const scene = new Scene(APPS).keys("!us\t");
  assert(scene.screen.at(-1)!.includes("USR1 USR2"));
  scene.keys("2\r");
  assertEquals(scene.effects, [
    { type: "act", call: { verb: "signal", targets: ["web:0"], word: "SIGUSR2" } },
  ]);
});

Deno.test("update() goes back one step at a time", () => {
  const scene = new Scene(APPS).keys("/e\r l");
  const steps = () => {
    const { focus, marked, filter, pane } = scene.keys("\x1b").state;
    return [focus, marked.size, filter, pane];
  };
  assertEquals(steps(), ["table", 1, "e", "logs"]);
  assertEquals(steps(), ["table", 0, "e", "logs"]);
  assertEquals(steps(), ["table", 0, "", "logs"]);
  assertEquals(steps(), ["table", 0, "", "none"]);
});

Deno.test("update() drops lines of apps that are no longer selected", () => {
  const scene = new Scene(APPS);
  const before = scene.state.log.source;
  scene.log("one");
  scene.keys("j");
  assertEquals(scene.state.log.lines, []);
  const late = [{ name: "web:0", stream: "stdout" as const, line: "late", at: "", end: 5 }];
  scene.update({ type: "log", source: before, begins: false, skipped: false, lines: late });
  assertEquals(scene.state.log.lines, []);
});

Deno.test("wantedLogs() follows only visible apps, and pauses while a full pane is read", () => {
  const scene = new Scene(APPS);
  assertEquals(wantedLogs(scene.state)?.names, ["web:0"]);
  scene.keys("  ");
  assertEquals(wantedLogs(scene.state)?.names, ["web:0", "web:1"]);
  scene.log(...Array.from({ length: 6000 }, (_, i) => `line ${i}`));
  assertEquals(wantedLogs(scene.state)?.hold, false);
  scene.keys("lkk");
  assertEquals(wantedLogs(scene.state)?.hold, true);
  scene.keys("i");
  assertEquals(wantedLogs(scene.state), undefined);
});

Deno.test("wantedWhy() asks again when the answer may have changed", () => {
  const scene = new Scene(APPS);
  assertEquals(wantedWhy(scene.state), undefined);
  const key = scene.keys("i").state && wantedWhy(scene.state)?.key;
  scene.update({ type: "list", processes: APPS.map((one) => ({ ...one, uptime: 1 })), now: NOW });
  assertEquals(wantedWhy(scene.state)?.key, key);
  scene.update({ type: "list", processes: APPS.map((one) => ({ ...one, restarts: 7 })), now: NOW });
  assert(wantedWhy(scene.state)?.key !== key);
});

Deno.test("update() scrolls the details and the help no further than they have lines", () => {
  const scene = new Scene([app(0, "api")], { rows: 14 });
  for (const open of ["i\t", "?"]) {
    scene.keys(open);
    const top = scene.screen;
    scene.keys("G");
    const end = scene.screen;
    scene.keys("jjj");
    assertEquals(scene.screen, end);
    scene.keys("k");
    assertNotEquals(scene.screen, end);
    scene.keys(`j${"k".repeat(200)}`);
    assertEquals(scene.screen, top);
  }
});

Deno.test("update() asks before it acts on several, and leaves stopped ones stopped", () => {
  const apps = [
    app(0, "api"),
    app(1, "old", { state: "stopped", pid: 0 }),
    app(2, "web", { state: "crashed", pid: 0 }),
  ];
  const scene = new Scene(apps).keys("*r");
  assertEquals(scene.effects, []);
  assertStringIncludes(scene.screen.at(-1)!, "Restart 2 apps (1 stopped: left stopped)? [y/N]");
  assertEquals(scene.keys("y").effects, [
    { type: "act", call: { verb: "restart", targets: ["api", "web"] } },
  ]);
  // A stopped app alone is what is meant, and so are several of which none runs.
  const stopped = new Scene([apps[1]!]).keys("r");
  assertEquals(stopped.effects, [
    { type: "act", call: { verb: "restart", targets: ["old"] } },
  ]);
  const two = new Scene([apps[1]!, app(3, "older", { state: "stopped", pid: 0 })]).keys("*r");
  assertStringIncludes(two.screen.at(-1)!, "Restart 2 apps? [y/N]");
  assertStringIncludes(new Scene(apps).keys("*s").screen.at(-1)!, "Start 3 apps? [y/N]");
});

Deno.test("update() puts failures first, unhealthy apps before those that run, and ties by name", () => {
  const apps = [
    app(0, "zoo"),
    app(1, "ok"),
    app(2, "sick", { health: "unhealthy" }),
    app(3, "bad", { state: "errored", pid: 0 }),
  ];
  const scene = new Scene(apps, { columns: 60, byId: false });
  assertEquals(scene.names, ["bad", "sick", "ok", "zoo"]);
  assertStringIncludes(scene.screen.join("\n"), "unhealthy");
  assertStringIncludes(scene.screen[1]!, "1 unhealthy");
  assertEquals(scene.keys("/unhealthy\r").names, ["sick"]);
});

Deno.test("update() takes clicks on rows, headers and the pane, and the wheel where it is", () => {
  const apps = Array.from({ length: 40 }, (_, index) => app(index, `app-${index + 10}`));
  const scene = new Scene(apps, { columns: 100, rows: 30 });
  const header = scene.screen.findIndex((line) => line.includes("NAME"));
  scene.keys(`\x1b[<0;5;${header + 4}M`);
  assertEquals(scene.state.visible[scene.state.cursorAt]!.name, "app-12");
  scene.keys(`\x1b[<65;5;${header + 4}M`);
  assertEquals(scene.state.cursorAt, 5);
  const cpu = scene.screen[header]!.indexOf("CPU") + 1;
  scene.keys(`\x1b[<0;${cpu};${header + 1}M`);
  assertEquals(scene.state.sort, { key: "cpu", reverse: false });
  scene.keys(`\x1b[<0;${cpu};${header + 1}M`);
  assertEquals(scene.state.sort, { key: "cpu", reverse: true });
  scene.log(...Array.from({ length: 90 }, (_, index) => `line ${index}`));
  scene.keys("\x1b[<64;5;28M");
  assertNotEquals(scene.state.log.bottom, null);
  assertEquals(scene.state.focus, "table");
  assertEquals(scene.keys("\x1b[<0;5;28M").state.focus, "pane");
  const before = scene.state;
  assertEquals(scene.keys("\x1b[<0;5;30M\x1b[<0;5;1M").state.cursorAt, before.cursorAt);
});

Deno.test("update() shows stored usage in the graph, over a time that < and > change", () => {
  const scene = new Scene([app(0, "api")], { columns: 140 }).keys("g");
  const wanted = wantedPast(scene.state)!;
  assertEquals([wanted.name, wanted.since], ["api", "1h"]);
  const point = (ago: number, cpu_percent: number) => ({
    ...{ at: new Date(NOW - ago).toISOString(), cpu_percent, memory_bytes: 50 * 1024 ** 2 },
  });
  const past = { ...wanted, step: 30_000, points: [point(3_000_000, 80), point(30_000, 20)] };
  scene.update({ type: "past", past });
  assertMatch(scene.screen.join("\n"), /cpu {2}now 20\.0% {2}most 80\.0% {2}last 1h/);
  assertEquals(wantedPast(scene.keys(">").state)!.since, "6h");
  assertEquals(wantedPast(scene.keys("<<").state), undefined);
  scene.keys(">");
  assertNotEquals(wantedPast({ ...scene.state, now: NOW + 60_000 })!.key, wanted.key);
  assertEquals(wantedPast(scene.keys("g").state), undefined);
});
