/** Colours and lines of logs, as the dashboard shows them. */

import { assertEquals } from "@std/assert";
import { Folder, type LogRow, ROW_PX, RowHeights, shownLine, textOf } from "../logs/log_lines.ts";
import { similarTo } from "../logs/log_query.ts";
import { ansiRuns, plainLine } from "../logs/ansi.ts";

const LOOK = { isTimed: true, isRaw: false };

function lineOf(text: string, more: Partial<LogRow> = {}): LogRow {
  return { seq: 0, name: "a", stream: "stdout", at: 0, end: 0, text, ...more };
}

Deno.test("shownLine() shows level, message and fields, or the original line", () => {
  const json =
    '{"level":50,"time":1,"msg":"it \\u001b[31mbroke","ms":3,"err":{"type":"E","stack":"E: x\\n  at y"}}';
  const { runs, level, trace } = shownLine(lineOf(json), LOOK);
  assertEquals([textOf(runs), level, trace], [
    'ERROR it broke ms=3 err={"type":"E"}',
    "error",
    ["E: x", "  at y"],
  ]);
  assertEquals(textOf(shownLine(lineOf(json), { ...LOOK, isRaw: true }).runs), json);
  const shown = (text: string, more: Partial<LogRow> = {}) =>
    textOf(shownLine(lineOf(text, more), LOOK).runs);
  assertEquals(shown("1 %\r99 %"), "99 %");
  assertEquals(shown("level=warn msg=slow a=b"), "WARN  slow a=b");
  assertEquals(shown("1970-01-01 00:00:00 up"), "up", "the time is shown beside it");
  assertEquals(shown("abc", { start: 5, end: 106_501 }), "abc … 104 KB");
});

const LINES = [
  ["a", "Traceback (most recent call last):"],
  ["a", '  File "x.py", line 1'],
  ["b", "  indented, of another app"],
  ["a", "Odd: name"],
  ["a", "  indented after it"],
  ["a", "done"],
] as const;

Deno.test("Folder folds a stack trace into its first line, separately for each app", () => {
  const rows = LINES.map(([name, text], seq): LogRow => (
    { seq, name, text, stream: "stderr", at: 0, end: 0 }
  ));
  const folder = new Folder();
  assertEquals(rows.map((row) => folder.fold(row)), [false, true, false, true, true, false]);
  assertEquals(rows[0]!.trace, [LINES[1][1], LINES[3][1], LINES[4][1]]);
  const { runs, level } = shownLine(rows[0]!, LOOK);
  assertEquals([textOf(runs), level], ["Odd: name", "error"], "the exception is the headline");
  assertEquals(rows.map((row) => folder.fold(row, true)), LINES.map(() => false));
  assertEquals(rows[0]!.trace, undefined);
  assertEquals(textOf(shownLine(rows[0]!, LOOK).runs), LINES[0][1]);
});

Deno.test("RowHeights measures added lines, and all lines of another filter", () => {
  const rows = (texts: readonly string[]) =>
    texts.map((text, seq): LogRow => ({ seq, name: "a", text, stream: "stdout", at: 0, end: 0 }));
  const [long, short] = ["a line of twenty-five char", "short"];
  const heights = new RowHeights(10, LOOK);
  const tops = () => [1, 2].map((index) => heights.top(index) / ROW_PX);
  const lines = rows([long, short]);
  heights.update(lines, 0);
  assertEquals(tops(), [3, 4]);
  lines.push(...rows([long]));
  heights.update(lines, 0);
  assertEquals([...tops(), heights.height / ROW_PX], [3, 4, 7]);
  heights.update(rows([short, long, short]), 0);
  assertEquals(tops(), [1, 4]);
  // The first line was dropped.
  assertEquals(heights.update(rows([long, short]), 1) / ROW_PX, 1);
  assertEquals(tops(), [3, 4]);
});

Deno.test("LogBuffer keeps its positions at their lines when it drops the oldest ones", async () => {
  const { LogBuffer } = await import("../logs/log_buffer.ts");
  Object.assign(globalThis, { document: { hidden: false }, requestAnimationFrame: () => 0 });
  const buffer = new LogBuffer(10);
  const add = (text: string) =>
    buffer.add([{ name: "app", stream: "stdout", at: 0, end: Number(text) + 1, text }]);
  for (const text of "0123456789") add(text);
  buffer.cursor.value = 5;
  buffer.opened.value = 0;
  add("10");
  assertEquals([buffer.shown[buffer.cursor.value]?.text, buffer.opened.value], ["5", -1]);
  assertEquals(buffer.lost, { "app/stdout": 1 }, "older lines are read again from there");

  // Lines are counted as folded if the line that unfolds them is shown.
  const traces = new LogBuffer(100);
  const lines = ["Error: a", "    at b", "    at c", "other"];
  traces.add(lines.map((text) => ({ name: "app", stream: "stderr", at: 0, end: 0, text })));
  const count = async (search: string) => {
    await traces.filter({ stream: "", search, isRegex: false, matchCase: false, invert: false });
    return [traces.shown.length, traces.folded];
  };
  assertEquals(await count(""), [2, 2]);
  assertEquals(await count("at b"), [3, 1]);
});

Deno.test("LogBuffer adds older lines at the top, and joins the pieces of a line", async () => {
  const { LogBuffer } = await import("../logs/log_buffer.ts");
  Object.assign(globalThis, { document: { hidden: false }, requestAnimationFrame: () => 0 });
  const buffer = new LogBuffer();
  const line = (text: string, end: number, partial = false) => (
    { name: "app", stream: "stdout" as const, at: 0, text, end, partial }
  );
  const texts = () => buffer.shown.map(({ text }: { text: string }) => text);
  buffer.add([line("c", 6), line("d", 8)]);
  buffer.cursor.value = 1;
  const heights = new RowHeights(0, { isTimed: true, isRaw: false });
  heights.update(buffer.shown, buffer.dropped);
  buffer.prepend([line("a", 2), line("b", 4)]);
  assertEquals([texts(), buffer.cursor.value], [["a", "b", "c", "d"], 3]);
  assertEquals(heights.update(buffer.shown, buffer.dropped), -40, "the view stays in place");
  buffer.add([line("10 %\r", 14, true)]);
  buffer.add([line("20 %\r", 19, true)]);
  buffer.add([line("done", 24), line("next", 29)]);
  assertEquals(texts().slice(4), ["10 %\r20 %\rdone", "next"]);
  assertEquals(buffer.shown[4]!.end, 24);
  // Of a long line only the beginning is sent, and kept.
  const piece = { ...line("", 100_000, true), start: 36_000 };
  buffer.add([{ ...line("begin", 36_000, true), start: 29 }, piece, line("end", 100_004)]);
  buffer.add([line("é 1 %", 100_010, true), { ...line("", 200_000), start: 100_010 }]);
  assertEquals(
    buffer.shown.slice(6).map(({ text, start, end }: LogRow) => [text, start, end]),
    [["begin", 29, 100_004], ["é 1 %", 100_004, 200_000]],
  );
});

Deno.test("similarTo() searches for lines that differ only in what has digits", () => {
  const finds = (line: string, other: string) => {
    const { search = "", isRegex } = similarTo(line);
    return [new RegExp(search).test(other), isRegex];
  };
  assertEquals(finds("job 7 (a.b) took 5ms", "job 12 (a.b) took 1.5ms"), [true, true]);
  assertEquals(finds("job 7 (a.b)", "job 7 (aab)"), [false, true]);
  const json = (ms: number) => JSON.stringify({ level: "error", msg: `"x" took ${ms} ms` });
  assertEquals(finds(json(5), json(77)), [true, true]);
});

Deno.test("ansiRuns() splits a line where its style changes", () => {
  assertEquals(ansiRuns("a \x1b[1;31mred\x1b[0m b"), [
    { text: "a ", look: "" },
    { text: "red", look: "fg-1 bold" },
    { text: " b", look: "" },
  ]);
});

Deno.test("ansiRuns() maps 256 and true colors to the sixteen of the themes", () => {
  const look = (code: string) => ansiRuns(`\x1b[${code}mx`)[0]!.look;
  assertEquals(look("38;5;9"), "fg-9");
  assertEquals(look("38;5;196"), "fg-9");
  assertEquals(look("48;5;21"), "bg-12");
  assertEquals(look("38;2;0;120;0"), "fg-2");
  assertEquals(look("97;44"), "fg-15 bg-4");
  assertEquals(look("38;5"), "fg-7");
});

Deno.test("ansiRuns() resets one attribute at a time", () => {
  assertEquals(ansiRuns("\x1b[1;4;32ma\x1b[22mb\x1b[39mc").map(({ look }) => look), [
    "fg-2 bold underline",
    "fg-2 underline",
    "underline",
  ]);
});

Deno.test("ansiRuns() drops invalid and hostile sequences", () => {
  const line =
    "\x1b]52;c;aGVsbG8=\x07<img src=x onerror=alert(1)>\x1b]0;title\x07\x1b[2J\x1b[10;10Hend\r\b";
  assertEquals(ansiRuns(line).map(({ text }) => text).join(""), "<img src=x onerror=alert(1)>end");
  assertEquals(plainLine(line), "<img src=x onerror=alert(1)>end");
  assertEquals(ansiRuns("\x1b["), []);
  assertEquals(ansiRuns("\x1b[999999999999;;;mx"), [{ text: "x", look: "" }]);
});
