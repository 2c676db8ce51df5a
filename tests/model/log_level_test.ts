/** Levels and fields that log lines state. */

import { assertEquals } from "@std/assert";
import type { LogLevel } from "../../src/model/log_line.ts";
import {
  lastState,
  levelOf,
  LevelReader,
  reaches,
  structuredLine,
  withoutTime,
} from "../../src/model/log_level.ts";

const LINES: Readonly<Record<LogLevel | "none", readonly string[]>> = {
  error: [
    '{"level":50,"time":1,"msg":"x"}',
    '{"level":"fatal","msg":"x"}',
    '{"severity":"ERROR","message":"x"}',
    '{"log.level":"error","@timestamp":"2026-01-01"}',
    '{"level":3,"short_message":"gelf"}',
    'ts=2026-01-01 level=error msg="it broke"',
    "<3>kernel: x",
    "<11>app: x",
    "E0102 15:04:05.678901  1 main.go:3] x",
    "[2026-01-02 15:04:05] production.ERROR: x",
    "[2026-01-02T15:04:05.6+00:00] app.CRITICAL: x",
    "fail: Microsoft.AspNetCore.Server[13]",
    "2026-01-01 12:00:00,123 ERROR module: x",
    "12:00 [error] x",
    "ERROR: x",
    "error: cannot",
    "npm ERR! code 1",
    "main.c:3:5: error: expected ';'",
    "error[E0382]: borrow of moved value",
    "TypeError: x is not a function",
    "Error: Cannot find module 'x'",
    "Uncaught (in promise) RangeError: x",
    "java.lang.NullPointerException: x",
    "Caused by: java.io.IOException: x",
    "Error [ERR_MODULE_NOT_FOUND]: x",
    "Traceback (most recent call last):",
    "panic: runtime error: index out of range",
    "thread 'main' panicked at src/main.rs:2:5:",
    "Segmentation fault (core dumped)",
    "app.rb:3:in `foo': undefined method (NoMethodError)",
    "PHP Fatal error:  Uncaught Exception: x",
    'Exception in thread "main" java.lang.Error',
    "[ERROR] x",
    "FATAL:  role does not exist",
  ],
  warn: [
    '{"level":40,"msg":"error in the message"}',
    "level=warning msg=x",
    "WARN  x",
    "(warning) x",
    "DeprecationWarning WARN x",
    "<4>x",
  ],
  info: [
    '{"level":"info","msg":"ERROR","err":{"level":"error"}}',
    "INFO retrying after ERROR",
    "I0102 15:04:05.678901 x",
    "level=info msg=ERROR",
    "12:00 INFO TypeError: was handled",
  ],
  debug: ['{"level":20}', "DEBUG x", "level=debug x", '{"level":7}'],
  none: [
    "",
    "hello",
    "120 passed, 0 failed",
    "GET /error-pages/500.html 200",
    "GET /ERROR/x 200",
    "no error here",
    "0 errors, 2 warnings",
    "0 ERROR",
    "done (0 ERROR)",
    "Warning: 0, Error: 0",
    "3 passed, ERROR: 0",
    "LOG_LEVEL=ERROR",
    '{"error":null,"failed":0}',
    '{"level":null,"msg":"x"}',
    '{"level":true}',
    '{"level":[]}',
    '{"nested":{"level":"error"}}',
    "the panic is over",
    "ErrorPages: 3",
    "{not JSON",
  ],
};

for (const [level, lines] of Object.entries(LINES)) {
  Deno.test(`levelOf() finds ${level} where it is stated`, () => {
    for (const line of lines) assertEquals(levelOf(line) ?? "none", level, line);
  });
}

Deno.test("LevelReader gives a stack trace the level of its first line", () => {
  const reader = new LevelReader();
  const lines = [
    "INFO begins",
    "Traceback (most recent call last):",
    '  File "x.py", line 1',
    "    boom()",
    "requests.exceptions.ConnectTimeout: x",
    "goes on",
    "TypeError: x",
    "    at main.js:1",
  ];
  assertEquals(lines.map((line) => reader.of(line)), [
    ...["info", "error", "error", "error", "error", undefined, "error", "error"] as const,
  ]);
});

Deno.test("reaches() treats a line without a level as info", () => {
  assertEquals(reaches(undefined, "info"), true);
  assertEquals(reaches(undefined, "warn"), false);
  assertEquals(reaches("error", "warn"), true);
});

Deno.test("structuredLine() parses JSON and logfmt, and nothing else", () => {
  assertEquals(structuredLine('{"level":30,"time":1,"msg":"up","port":80,"a":{"b":1}}'), {
    level: "info",
    message: "up",
    fields: [["time", "1"], ["port", "80"], ["a", '{"b":1}']],
    stack: undefined,
  });
  assertEquals(structuredLine('time=1 level=error msg="say \\"x\\"" path=/a=b'), {
    level: "error",
    message: 'say "x"',
    fields: [["time", "1"], ["path", "/a=b"]],
    stack: undefined,
  });
  const error = { level: 50, msg: "x", err: { type: "Error", stack: "Error: x\n    at y" } };
  assertEquals(structuredLine(JSON.stringify(error))?.stack, error.err.stack);
  assertEquals(structuredLine('{"a":1}'), undefined);
  assertEquals(structuredLine("plain msg"), undefined);
});

Deno.test("lastState() returns the final state of a progress bar", () => {
  assertEquals(lastState("10 %\r50 %\r100 %"), "100 %");
  assertEquals(lastState("10 %\r100 %\r"), "100 %");
  assertEquals(lastState("plain"), "plain");
});

Deno.test("withoutTime() removes the time of writing at the start of a line, in any zone", () => {
  const at = Date.parse("2026-11-27T10:11:12.500Z");
  for (
    const [line, shown] of [
      ["2026-11-27T10:11:12.123Z INFO up", "INFO up"],
      ["2026-11-27 15:41:12,123 - root - up", "root - up"],
      ["2026/11/27 11:11:13 [error] 7#0: up", "[error] 7#0: up"],
      ["[2026-11-27 10:11:12] app.ERROR: up", "app.ERROR: up"],
      ["10:11:11.999 [main] up", "[main] up"],
      ["\x1b[2m2026-11-27T10:11:12Z\x1b[0m  up", "\x1b[2m\x1b[0mup"],
      // Not the time of writing, or not only a time.
      ["2026-11-27 10:19:12 retry", undefined],
      ["[2026-11-27 10:11:12,678: WARNING/Pool-2] up", undefined],
      ["10:11:12 up", undefined],
      ["10.0.0.1 2026-11-27 10:11:12 up", undefined],
    ] as const
  ) assertEquals(withoutTime(line, at), shown ?? line);
});

Deno.test("levelOf() knows the lines of Celery, PostgreSQL and Sinatra", () => {
  const at = "2026-11-27 10:11:12";
  for (
    const [line, level] of [
      [`[${at},123: WARNING/ForkPoolWorker-2] slow`, "warn"],
      [`[${at},123: INFO/MainProcess] Task ERROR accepted`, "info"],
      [`${at}.123 UTC [42] LOG:  statement: select 'ERROR'`, "info"],
      [`${at}.123 UTC [42] app@shop FATAL:  no such role`, "error"],
      [`${at} - RuntimeError - boom:`, "error"],
    ] as const
  ) assertEquals(levelOf(line), level, line);
});

Deno.test("LevelReader keeps a Go panic with its goroutines, and a PostgreSQL error with its statement", () => {
  const at = "2026-11-27 10:11:12.123 UTC [42]";
  for (
    const lines of [
      [
        ...["panic: boom", "", "goroutine 1 [running]:", "main.f(0x1, 0x2)", "\t/x.go:4 +0x1d"],
        ...["main.(*T).g()", "\t/x.go:9", "created by main.main in goroutine 1", "\t/x.go:2"],
      ],
      [`${at} ERROR:  syntax error`, `${at} STATEMENT:  selekt 1`, "\tfrom t", `${at} HINT:  none`],
    ]
  ) {
    const reader = new LevelReader();
    const read = lines.map((line) => [reader.of(line), reader.part]);
    assertEquals(read, lines.map((_, index) => ["error", index === 0 ? "first" : "more"]));
    assertEquals([reader.of("next"), reader.part], [undefined, "first"]);
  }
});
