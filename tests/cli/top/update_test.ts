import { assert, assertEquals, assertNotEquals, assertStringIncludes } from "@std/assert";
import { SORT_KEYS, wantedLogs, wantedWhy } from "../../../src/cli/top/state.ts";
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
    state: "Db web:0 web:1 cache",
    cpu: "web:1 cache web:0 Db",
    mem: "Db web:1 cache web:0",
    restarts: "Db web:0 web:1 cache",
    uptime: "web:0 web:1 Db cache",
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
  scene.keys("/web\rr");
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
