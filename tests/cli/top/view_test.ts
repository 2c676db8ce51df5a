import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { textWidth } from "../../../src/cli/terminal_text.ts";
import { app, NOW, Scene } from "./scene.ts";

const APPS = [
  app(0, "api:0", { health: "healthy" }),
  app(1, "api:1", { instance_index: 1, state: "starting", ready: false }),
  app(2, "worker", { state: "waiting", pid: 0, uptime: 0 }),
];

/** Every key that changes the view. */
const LOOKS = [
  "",
  "i",
  "g",
  "l",
  "lw",
  "lt",
  "?",
  "z",
  "p",
  "/ab",
  ":s",
  "!",
  "x",
  "\x1b",
  "+++",
  "lg",
];

Deno.test("view() fills any screen exactly, and never exceeds its width", () => {
  const names = [app(7, "日本語日本語日本語"), app(8, "x".repeat(128))];
  for (
    const [columns, rows] of [[100, 30], [80, 24], [60, 20], [40, 10], [20, 5], [12, 2]] as const
  ) {
    for (const keys of LOOKS) {
      const scene = new Scene([...APPS, ...names], { columns, rows });
      scene.log("short", "日本".repeat(200), `\x1b[31m${"long ".repeat(50)}`, "\t\ttabs");
      scene.keys(keys);
      const { screen } = scene;
      assertEquals(screen.length, rows, `${columns}×${rows} ${keys}`);
      for (const line of screen) {
        assert(textWidth(line) <= columns, `${columns}×${rows} ${JSON.stringify(keys)}: ${line}`);
      }
    }
  }
});

Deno.test("view() shows the table with cursor, marks, health and order", () => {
  const scene = new Scene(APPS, { columns: 120 }).keys(" S");
  const [, summary, header, first, second, third] = scene.screen;
  assertEquals(summary, "3 apps: 1 running, 1 starting, 1 waiting   1 marked");
  assertMatch(header!, /^ {3}ID {2}NAME▾ +STATE +HEALTH +CPU +MEM/);
  assertMatch(
    first!,
    /^ \* {2}0 {2}api:0 +running +healthy +1\.2% .* 48 MB .* 2 +2h13m +4121 +1\/2/,
  );
  assertStringIncludes(second!, "\x1b[7m▸");
  assertMatch(second!, /▸ {3}1 {2}api:1 +starting +not ready/);
  assertMatch(third!, /^ {4}2 {2}worker +waiting +- +- .* - +- +default/);
});

Deno.test("view() drops columns by weight, and keeps name and state", () => {
  const headers = (columns: number) => new Scene(APPS, { columns }).screen[2]!.trim().split(/ +/);
  assertEquals(headers(80).join(" "), "ID▾ NAME STATE HEALTH CPU MEM RESTARTS UPTIME");
  assertEquals(headers(60).join(" "), "NAME STATE CPU MEM RESTARTS UPTIME");
  assertEquals(headers(24).join(" "), "NAME STATE");
});

Deno.test("view() scrolls a long table with its cursor", () => {
  const many = Array.from({ length: 200 }, (_, i) => app(i, `app${i}`));
  const scene = new Scene(many, { rows: 24 }).keys("\x1b");
  const rows = () => scene.screen.flatMap((line) => /(▸?) .* app(\d+) /.exec(line) ?? []);
  scene.keys("G");
  assertStringIncludes(rows().at(-3)!, "▸");
  scene.keys("\x1b[5~");
  assertEquals(scene.state.cursorAt, 199 - 19);
  scene.keys("\x1b[1~");
  assertEquals(scene.state.offset, 0);
});

Deno.test("view() shows control sequences of apps as text", () => {
  const evil = "\x1b]0;OWNED\x07\x1b[2J\x9b5Aa\u202eb\u2028c\r\nd\x00\x1b[31mred\x07";
  const hostile = app(0, `a${evil}`, {
    namespace: evil,
    tags: [evil],
    last_reason: evil,
    config: { name: "a", entrypoint: evil, cwd: evil, labels: { [evil]: evil } },
  });
  for (const color of [false, true]) {
    for (const keys of LOOKS) {
      const scene = new Scene([hostile], { columns: 140, color });
      const { source } = scene.state.log;
      const line = { name: evil, stream: "stderr" as const, line: evil, at: evil, end: 1 };
      scene.update({ type: "log", source, begins: true, skipped: true, lines: [line, line] });
      scene.update({ type: "done", text: evil, bad: true });
      scene.update({ type: "lost", reason: evil, now: NOW });
      const why = {
        process: hostile,
        reasons: [evil],
        last_output: [evil],
        hints: [{ text: evil }],
      };
      scene.keys(keys);
      scene.update({ type: "why", why });
      for (const shown of scene.screen) {
        // deno-lint-ignore no-control-regex
        const rest = shown.replace(/\x1b\[[0-9;:]*m/g, "");
        // deno-lint-ignore no-control-regex
        assert(!/[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]/.test(rest), JSON.stringify(shown));
      }
    }
  }
});

Deno.test("view() shows logs with separate streams, names when there are several, and reset colors", () => {
  const scene = new Scene(APPS, { color: true });
  const at = "2026-01-02T12:00:00.000Z";
  scene.log("\x1b[32mgreen", { name: "api:0", stream: "stderr", line: "trouble", at, end: 1 });
  const lines = () => scene.screen.filter((line) => /green|trouble/.test(line));
  assertEquals(lines(), ["  \x1b[32mgreen\x1b[0m", "\x1b[2m·\x1b[0m trouble"]);
  scene.keys(" ");
  scene.keys(" ");
  scene.log({ name: "api:1", stream: "stdout", line: "mine", at, end: 1 });
  assert(scene.screen.some((line) => line.endsWith("api:1\x1b[0m | mine")));
});

Deno.test("view() shows JSON, logfmt and progress bars as `procsup logs` does", () => {
  const scene = new Scene(APPS);
  scene.log(
    '{"time":"2026-01-02T12:00:00Z","level":"error","msg":"boom","code":5,"stack":"E: boom\\n at a"}',
    "level=info msg=paid order=7",
    "10%\r100%",
  );
  for (const text of ["ERROR boom", "code=5 (+2 lines)", "INFO  paid order=7", "  100%"]) {
    assert(scene.screen.some((line) => line.includes(text)), `${text}: ${scene.screen.join("\n")}`);
  }
  assert(!scene.screen.some((line) => /[{}]|10%/.test(line)), scene.screen.join("\n"));
});

Deno.test("view() keeps its position while more lines arrive", () => {
  const scene = new Scene(APPS);
  scene.log(...Array.from({ length: 100 }, (_, i) => `line ${i}.`));
  scene.keys("lkkk");
  const shown = () => scene.screen.filter((line) => line.includes("line"));
  const before = shown();
  assert(before.at(-1)!.includes("line 96."), before.at(-1));
  scene.log("line 100.", "line 101.");
  assertEquals(shown(), before);
  assertStringIncludes(scene.screen.join("\n"), "paused, 5 below");
  scene.keys("G");
  assert(shown().at(-1)!.includes("line 101."));
  scene.log("line 102.");
  assert(shown().at(-1)!.includes("line 102."));
  scene.keys("f");
  scene.log("line 103.");
  assert(shown().at(-1)!.includes("line 102."));
});

Deno.test("view() finds a search term, upwards first and then around", () => {
  const scene = new Scene(APPS, { color: true });
  scene.log(...Array.from({ length: 300 }, (_, i) => i % 100 === 7 ? `Hit ${i}.` : `line ${i}.`));
  scene.keys("l/hit\r");
  const hit = () => scene.screen.findLast((line) => line.includes("▸ "))!;
  assertStringIncludes(hit(), "\x1b[7mHit\x1b[0m 207.");
  scene.keys("N");
  assertStringIncludes(hit(), "107.");
  scene.keys("nn");
  assertStringIncludes(hit(), "7.");
  scene.keys("nN");
  assertStringIncludes(hit(), " 7.");
  scene.keys("/HIT\r");
  assertStringIncludes(scene.screen.at(-1)!, 'Not found: "HIT"');
});

Deno.test("view() wraps long lines, or scrolls them sideways", () => {
  const scene = new Scene(APPS, { columns: 40 });
  scene.log(`${"a".repeat(38)}${"b".repeat(38)}c`);
  const shown = () => scene.screen.filter((line) => /^ {2}[abc]+$/.test(line)).map((l) => l.trim());
  assertEquals(shown(), ["a".repeat(38)]);
  scene.keys("l\x1b[C");
  assertEquals(shown(), ["a".repeat(30) + "b".repeat(8)]);
  scene.keys("w");
  assertEquals(shown(), ["a".repeat(38), "b".repeat(38), "c"]);
});

Deno.test("view() shows that the daemon is gone, for how long and why", () => {
  const scene = new Scene(APPS);
  scene.update({ type: "lost", reason: "No daemon answers", now: NOW + 1000 });
  scene.update({ type: "tick", now: NOW + 6000 });
  assertEquals(scene.screen[1], "connection lost, retrying (5s): No daemon answers");
  assertStringIncludes(scene.screen.join("\n"), "worker");
  scene.update({ type: "list", processes: APPS, now: NOW + 7000 });
  assertStringIncludes(scene.screen[1]!, "3 apps");
});

Deno.test("view() draws recent resource usage", () => {
  const scene = new Scene([app(0, "api", { cpu_percent: 0, memory_bytes: 0 })], { columns: 140 });
  for (let i = 1; i <= 8; i++) {
    const processes = [app(0, "api", { cpu_percent: i * 12.5, memory_bytes: i * 1024 ** 2 })];
    scene.update({ type: "list", processes, now: NOW + i * 1000 });
  }
  assertStringIncludes(scene.screen[3]!, "▁▂▃▄▅▆▇█");
  const graph = scene.keys("g<").screen.join("\n");
  assertMatch(graph, /cpu {2}now 100\.0% {2}most 100\.0% {2}last 9s/);
  assertMatch(graph, /mem {2}now 8\.0 MB/);
});

Deno.test("view() names the time of a graph, whatever the interval of the readings", () => {
  const scene = new Scene([app(0, "api")], { columns: 140 });
  for (let i = 1; i <= 8; i++) {
    scene.update({ type: "list", processes: [app(0, "api")], now: NOW + i * 10_000 });
  }
  assertMatch(scene.keys("g<").screen.join("\n"), /cpu .* last 1m30s/);
});

Deno.test("view() uses only attributes on a screen without colors", () => {
  const scene = new Scene(APPS);
  scene.log("\x1b[31mred", { name: "api:0", stream: "stderr", line: "trouble", at: "", end: 8 });
  for (const keys of LOOKS) {
    // deno-lint-ignore no-control-regex
    const looks = scene.keys(keys).screen.join("").match(/\x1b\[[^m]*m/g) ?? [];
    assertEquals(looks.filter((look) => look !== "\x1b[7m" && look !== "\x1b[0m"), []);
  }
});

Deno.test("view() shows ports on request", () => {
  const scene = new Scene(APPS, { columns: 120 }).keys("p");
  const ports = [{ port: 8080, address: "0.0.0.0" }, { port: 8080, address: "::" }, {
    port: 9000,
    address: "::",
  }];
  scene.update({ type: "ports", ports: [{ name: "api:0", id: APPS[0]!.id, ports }] });
  assertMatch(scene.screen[2]!, /PORTS/);
  assertMatch(scene.screen[3]!, / 8080 9000 /);
  assertMatch(scene.keys("i").screen.join("\n"), /^ports +8080 9000$/m);
});
