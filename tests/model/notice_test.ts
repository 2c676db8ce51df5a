/** The assignments of sd_notify(3). */

import { assertEquals } from "@std/assert";
import {
  NEW_MAIN_LINE,
  NO_NOTICES,
  type Notice,
  noticeLines,
  parseNotice,
  withNotice,
} from "../../src/model/notice.ts";

const LINES: readonly [line: string, notice: Notice | undefined][] = [
  ["READY=1", { type: "ready" }],
  ["READY=0", undefined],
  ["RELOADING=1", { type: "reloading" }],
  ["STOPPING=1", { type: "stopping" }],
  ["WATCHDOG=1", { type: "alive" }],
  ["WATCHDOG=trigger", { type: "hung" }],
  ["WATCHDOG=2", undefined],
  ["STATUS=a=b ", { type: "status", text: "a=b" }],
  ["STATUS=\x1b]0;title\x07red\x1b[31m\u202e", { type: "status", text: "red" }],
  [`STATUS=${"x".repeat(5000)}`, { type: "status", text: `${"x".repeat(200)}…` }],
  ["MAINPID=77", undefined],
  ["PROCSUP_NEW_MAIN=1", { type: "new_main" }],
  ["WATCHDOG_USEC=2500000", { type: "watchdog", ms: 2500 }],
  ["WATCHDOG_USEC=0", { type: "watchdog", ms: 0 }],
  ["WATCHDOG_USEC=18446744073709551615", { type: "watchdog", ms: 2 ** 31 - 1 }],
  ["EXTEND_TIMEOUT_USEC=18446744073709551615", { type: "extend", ms: 2 ** 31 - 1 }],
  ["EXTEND_TIMEOUT_USEC=1e9", undefined],
  ["FDSTORE=1", undefined],
  ["BARRIER=1", undefined],
  ["=1", undefined],
  ["READY", undefined],
  ["", undefined],
];

Deno.test("parseNotice() knows what an app may say, and ignores the rest", () => {
  for (const [line, notice] of LINES) assertEquals(parseNotice(line), notice, line);
});

Deno.test("noticeLines() says what all assignments amount to", () => {
  const said = ["READY=1", "STATUS=a", "RELOADING=1", "MAINPID=7", "WATCHDOG=1", "STATUS=b"];
  const folded = (lines: readonly string[]) =>
    lines.flatMap((line) => parseNotice(line) ?? []).reduce(withNotice, NO_NOTICES);
  const so = folded(said);
  assertEquals(so, {
    ...{ isReady: true, isReloading: true, isStopping: false, status: "b", isNewMain: false },
  });
  assertEquals(folded(noticeLines(so)), so);
  const over = folded([...said, "READY=1", "STOPPING=1", "WATCHDOG_USEC=5000000", "STATUS="]);
  assertEquals([over.isReloading, over.isStopping, over.status], [false, true, ""]);
  assertEquals(folded(noticeLines(over)), over);
  // What the former main process said of its own end is over.
  const next = folded([...noticeLines(over), NEW_MAIN_LINE]);
  assertEquals([next.isReady, next.isStopping, next.isNewMain], [true, false, true]);
  assertEquals(folded(noticeLines(next)), next);
  assertEquals(folded([...noticeLines(next), "WATCHDOG=1"]).isNewMain, false);
});
