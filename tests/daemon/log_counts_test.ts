/** Log lines counted by level and time for a histogram. */

import { assertEquals } from "@std/assert";
import { levelCounts } from "../../src/daemon/log_folds.ts";
import { newestLines } from "../../src/logs/read/merged_logs.ts";
import { addMarks, releaseMarks } from "../../src/logs/write/time_index.ts";
import { parseLogFilter } from "../../src/logs/read/log_filter.ts";
import { tempHome } from "../support/temp_home.ts";

const BEGIN = Date.UTC(2026, 0, 2, 3, 4, 5);

Deno.test("levelCounts() counts lines by level and step, and a stack trace as error", async () => {
  await using home = await tempHome();
  const path = `${home.path}/stdout.log`;
  const written = [
    [500, "too early\n"],
    [1000, "plain\nWARN hot\n"],
    [1900, "\x1b[31mERROR\x1b[0m broken\n    at a (x.js:1)\n"],
    [3000, '{"level":"debug"}\n'],
    [5000, "too late\n"],
  ] as const;
  let end = 0;
  const marks = written.map(([at, text]) => ({
    at: BEGIN + at,
    end: end += text.length,
    exact: true,
  }));
  Deno.writeTextFileSync(path, written.map(([, text]) => text).join(""));
  addMarks(path, marks);
  releaseMarks(path);
  const range = { since: BEGIN + 1000, until: BEGIN + 5000 };
  const absent = `${home.path}/none.log`;
  const none = { debug: 0, info: 0, warn: 0, error: 0 };
  const logs = [path, absent].map((path) => ({ name: "app", stream: "stdout", path } as const));
  const count = (grep?: string) => {
    const filter = parseLogFilter({
      ...{ since: new Date(range.since), until: new Date(range.until - 1) },
      ...(grep && { grep }),
    }, 0);
    return levelCounts(newestLines(logs, { complete: true, meaning: true, filter }), 1000, range);
  };
  assertEquals(await count(), {
    since: BEGIN + 1000,
    counts: [
      { ...none, at: BEGIN + 1000, info: 1, warn: 1, error: 2 },
      { ...none, at: BEGIN + 3000, debug: 1 },
    ],
    names: [{
      ...{ name: "app", debug: 1, info: 1, warn: 1, error: 1 },
      last_error: { at: new Date(BEGIN + 1900).toISOString(), line: "ERROR broken" },
    }],
  });
  const { counts } = await count("O");
  assertEquals(counts, [{ ...none, at: BEGIN + 1000, error: 1 }]);
});
