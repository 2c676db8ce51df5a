/** Finding the line that states the error. The output is that of real programs, shortened. */

import { assertEquals } from "@std/assert";
import { errorLine, likelyErrorLine } from "../../src/model/error_line.ts";

const STATED: readonly (readonly [output: string, expected: string | undefined])[] = [
  // Node
  [
    "node:internal/modules/cjs/loader:1225\n  throw err;\n  ^\n\n" +
    "Error: Cannot find module './x'\nRequire stack:\n- /srv/a.js\n    at y (z:1) {\n" +
    "  code: 'MODULE_NOT_FOUND'\n}\n\nNode.js v20.20.2",
    "Error: Cannot find module './x'",
  ],
  [
    "Error: boot\n    at a {\n  [cause]: Error: disk gone\n      at b\n}\n\nNode.js v20.20.2",
    "Error: boot; caused by Error: disk gone",
  ],
  ["TypeError: x\n    at a\nnpm error code 1\nnpm error path /srv", "TypeError: x"],
  // Python
  [
    'Traceback (most recent call last):\n  File "a.py", line 4\n    d["k"]\nKeyError: \'k\'\n\n' +
    "The above exception was the direct cause of the following exception:\n\n" +
    'Traceback (most recent call last):\n  File "a.py", line 6\n    raise Halt("no key")\n' +
    "Halt: no key",
    "Halt: no key",
  ],
  ["2026-11-22 14:07:40 [error    ] no room                       port=3", undefined],
  // Go
  [
    "panic: no shard\n\ngoroutine 1 [running]:\nmain.main()\n\t/a.go:3 +0x25\nexit status 2",
    "panic: no shard",
  ],
  // Java
  [
    'Exception in thread "main" java.lang.IllegalStateException: bad\n\tat A.main(A.java:1)\n' +
    "Caused by: java.io.IOException: gone\n\t... 1 more\nCaused by: X: root\n\t... 2 more",
    'Exception in thread "main" java.lang.IllegalStateException: bad; caused by X: root',
  ],
  // Rust
  [
    "thread 'main' (17) panicked at src/main.rs:1:13:\nno core\nnote: run with `RUST_BACKTRACE=1`",
    "thread 'main' (17) panicked at src/main.rs:1:13: no core",
  ],
  [
    "Error: cannot read config\n\nCaused by:\n    No such file or directory (os error 2)",
    "Error: cannot read config; caused by No such file or directory (os error 2)",
  ],
  // Ruby, PHP, C++
  ["a.rb:1:in `read': No such file - /nope (Errno::ENOENT)\n\tfrom a.rb:3", undefined],
  ["PHP Fatal error:  Uncaught Exception: no cash in a.php:1\nStack trace:\n#0 {main}", undefined],
  [
    "terminate called after throwing an instance of 'std::runtime_error'\n  what():  no room",
    "terminate called after throwing an instance of 'std::runtime_error' what():  no room",
  ],
  // .NET
  [
    "info: My.Host[14]\n      Listening\nfail: My.Server[13]\n      no room\n      System.Exception: x",
    "fail: My.Server[13] no room",
  ],
  // Loggers: pino, bunyan, winston, zap, logrus, structlog
  [
    '{"level":30,"msg":"up"}\n' +
    '{"level":60,"err":{"message":"no redis","stack":"Error: no redis\\n    at x"},"msg":"cannot start"}' +
    '\n{"level":30,"msg":"bye"}',
    "cannot start: Error: no redis",
  ],
  ['{"name":"x","level":60,"err":{"message":"refused"},"msg":"no","v":0}', "no: refused"],
  [
    '{"level":"error","message":"no redis","stack":"Error: no redis\\n    at x"}',
    "Error: no redis",
  ],
  ['{"level":"fatal","ts":1.5,"msg":"listen","error":"port in use"}', "listen: port in use"],
  ['time="2026-01-02" level=fatal msg="cannot dial" error="refused"', "cannot dial: refused"],
  [
    '{"event":"stop","level":"critical","exception":"Traceback (most recent call last):\\n  File ' +
    '\\"a\\"\\nZeroDivisionError: division by zero"}',
    "stop: ZeroDivisionError: division by zero",
  ],
  ["\x1b[31merror\x1b[39m: in colour", "error: in colour"],
];

Deno.test("errorLine() finds the line that states the error", () => {
  for (const [output, expected] of STATED) {
    const lines = output.split("\n");
    // Undefined in the table: the first line.
    assertEquals(errorLine(lines), expected ?? lines[0], output);
  }
});

Deno.test("errorLine() returns nothing when no line states an error", () => {
  assertEquals(errorLine([]), undefined);
  assertEquals(errorLine(["listening on 80", "120 passed, 0 failed", "GET /error 200"]), undefined);
  assertEquals(errorLine(["WARN slow", '{"level":30,"msg":"ERROR"}']), undefined);
});

Deno.test("errorLine() searches the last 40 lines outside stack traces", () => {
  const later = Array.from({ length: 39 }, (_, at) => `line ${at}`);
  const trace = ["ERROR: x", ...Array<string>(200).fill("    at y")];
  assertEquals(errorLine([...trace, ...later]), "ERROR: x");
  assertEquals(errorLine([...trace, ...later, "one more"]), undefined);
});

Deno.test("likelyErrorLine() prefers errors of shells and Perl to the last line", () => {
  const lines = (output: string) => likelyErrorLine(output.split("\n"));
  const found = "a.sh: 3: nope: not found";
  assertEquals(lines(`begin\n${found}\ncleaning up`), found);
  assertEquals(
    lines("a.sh: line 4: ./x: Permission denied\nbye"),
    "a.sh: line 4: ./x: Permission denied",
  );
  assertEquals(lines("no route at a.pl line 1.\nBEGIN failed"), "no route at a.pl line 1.");
  assertEquals(lines("node:1\nthrow x\n^\nout of luck\n(Use `node --trace`)\n"), "out of luck");
  assertEquals(lines("config is missing\n\n"), "config is missing");
  assertEquals(
    lines("npm error Missing script: x\nnpm error a log"),
    "npm error Missing script: x",
  );
  assertEquals(lines("out of luck\n(node:7) Warning: old\nINFO bye"), "out of luck");
  assertEquals(likelyErrorLine([]), undefined);
});
