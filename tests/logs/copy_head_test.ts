/** Copying the head of a log. */

import { assert, assertEquals } from "@std/assert";
import { copyHead } from "../../src/logs/write/copy_head.ts";
import { tempHome } from "../support/temp_home.ts";

const HOLE = 8 * 1024 * 1024;

Deno.test("copyHead() keeps the holes in a sparse log", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  await using temp = tempHome();
  const log = `${temp.path}/stdout.log`;
  Deno.writeTextFileSync(log, "head\n");
  Deno.truncateSync(log, HOLE);
  Deno.writeTextFileSync(log, "middle\n", { append: true });
  Deno.truncateSync(log, 3 * HOLE);
  const archive = `${temp.path}/archive`;
  const same = (bytes: number) => {
    const [copy, original] = [Deno.readFileSync(archive), Deno.readFileSync(log)];
    assert(copy.length === bytes && copy.every((byte, i) => byte === original[i]));
    assert(Deno.statSync(archive).blocks! * 512 < 1_000_000);
  };
  for (const bytes of [HOLE + 3, 2 * HOLE]) {
    assertEquals(await copyHead(log, archive, bytes, false), bytes);
    same(bytes);
  }
  assertEquals(await copyHead(log, archive, 0, true), 3 * HOLE);
  same(3 * HOLE);
});
