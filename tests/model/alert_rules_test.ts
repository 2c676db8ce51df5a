import { assertEquals, assertThrows } from "@std/assert";
import {
  type AlertScope,
  type AlertState,
  growth,
  isMet,
  nextState,
  parseCondition,
  QUIET,
  valueText,
} from "../../src/model/alert_rules.ts";

const MINUTE = 60_000;

function refusal(text: string, scope: AlertScope = "process"): string {
  return assertThrows(() => parseCondition(text, scope), Error).message;
}

Deno.test("parseCondition() reads figures, operators, limits and times", () => {
  assertEquals(parseCondition("memory > 400MB for 5m", "process"), {
    ...{ figure: "memory", operator: ">", limit: 400 * 1024 ** 2, unit: "size" },
    ...{ withinMs: 0, forMs: 5 * MINUTE },
  });
  assertEquals(parseCondition(" restarts>=5 in 10m ", "process"), {
    ...{ figure: "restarts", operator: ">=", limit: 5, unit: "count" },
    ...{ withinMs: 10 * MINUTE, forMs: 0 },
  });
  const { limit, unit } = parseCondition("memory > 80%", "host");
  assertEquals([limit, unit], [80, "percent"]);
  assertEquals(parseCondition("cpu > 90", "process").unit, "percent");
  assertEquals(parseCondition("job overdue for 1h", "process").forMs, 60 * MINUTE);
  assertEquals(parseCondition("disk.free < 2GB", "host").limit, 2 * 1024 ** 3);
});

Deno.test("parseCondition() names the column, the word, and what would be right", () => {
  assertEquals(refusal("memroy > 4MB"), 'column 1, "memroy": did you mean "memory"?');
  assertEquals(
    refusal(""),
    "column 1: expected one of cpu, memory, threads, fds, restarts, job overdue",
  );
  assertEquals(refusal("memory is 4MB"), 'column 8, "is": expected >, >=, < or <=');
  assertEquals(refusal("cpu > 4MB"), 'column 7, "4MB": expected percent, such as "80%"');
  assertEquals(refusal("fds > 80%"), 'column 7, "80%": expected a number');
  assertEquals(refusal("memory >"), 'column 9: expected a size, such as "400MB", or "80%"');
  assertEquals(
    refusal("memory > 400 MB"),
    'column 10, "400": a size under 1 MB needs a unit, such as "400MB"',
  );
  assertEquals(
    refusal("restarts > 5"),
    'column 13: expected "in" and a duration: restarts are counted within it',
  );
  assertEquals(refusal("cpu > 9 for 5s"), 'column 13, "5s": expected 10s to 24h');
  assertEquals(
    refusal("cpu > 9 in 5m"),
    'column 9, "in": expected "for" and a duration, or nothing',
  );
  assertEquals(
    refusal("cpu > 9 for 1m or"),
    'column 16, "or": expected nothing after the duration',
  );
  assertEquals(
    refusal("disk.free < 2GB"),
    'column 1, "disk.free": it is a figure of the host, whose alerts are at the top level of a file',
  );
  assertEquals(
    refusal("restarts > 2 in 1m", "host"),
    'column 1, "restarts": it is one of an app or job, whose alerts are among its keys',
  );
  assertEquals(refusal("job late"), 'column 5, "late": expected "job overdue"');
});

Deno.test("an unknown value fulfils no condition, and values are told as people read them", () => {
  const below = parseCondition("memory < 400MB", "process");
  assertEquals([isMet(below, NaN), isMet(below, 1), isMet(below, 4e9)], [false, true, false]);
  assertEquals(valueText(below, 5 * 1024 ** 2), "5.0 MB");
  assertEquals(valueText(parseCondition("cpu > 1", "host"), 12.345), "12.35%");
  assertEquals(valueText(below, NaN), "");
});

Deno.test("growth() counts on over a counter that began again", () => {
  assertEquals([growth([]), growth([7]), growth([2, 5, 5, 1, 2])], [0, 0, 5]);
});

Deno.test("an alert fires once its condition held for its time, and is resolved after a time without", () => {
  const rules = { forMs: 5 * MINUTE, resolveAfterMs: MINUTE };
  let state: AlertState = QUIET;
  const firing = (minute: number, met: boolean) => {
    state = nextState(state, met, minute * MINUTE, rules);
    return state.firingSince !== null;
  };
  assertEquals([firing(1, true), firing(5, true)], [false, false]);
  // A break begins the time again.
  assertEquals([firing(5.5, false), firing(6, true), firing(10.9, true)], [false, false, false]);
  assertEquals([firing(11, true), state.firingSince], [true, 11 * MINUTE]);
  // It swings about its limit: the same alert goes on.
  assertEquals([firing(12, false), firing(12.5, true), firing(13, false)], [true, true, true]);
  assertEquals([firing(13.9, false), firing(14, false)], [true, false]);
  // The clock was set back: nothing fires before its time.
  assertEquals([firing(15, true), firing(2, true), firing(6.9, true)], [false, false, false]);
  assertEquals(firing(7, true), true);
});
