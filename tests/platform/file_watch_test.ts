/** Watching files. */

import { assertEquals } from "@std/assert";
import { FileWatch, watchedPath } from "../../src/platform/files/file_watch.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";

Deno.test("FileWatch notifies each watcher of a file once, until it watches again", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  await using home = tempHome();
  const file = `${home.path}/file`;
  const path = watchedPath(file);
  const append = () => Deno.writeTextFile(file, "x", { append: true });
  using one = new FileWatch();
  using other = new FileWatch();
  assertEquals(one.once(path, () => {}), undefined);
  await append();
  const told: string[] = [];
  for (const how of [append, append, () => Deno.truncate(file), () => Deno.remove(file)]) {
    told.length = 0;
    one.once(path, () => told.push("one"));
    other.once(path, () => told.push("other"));
    other.once(path, () => told.push("cancelled"))!();
    await how();
    await waitFor(() => told.length === 2);
    assertEquals(told.toSorted(), ["one", "other"]);
  }
});

Deno.test("FileWatch reports a write that comes just as it begins to watch", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  await using home = tempHome();
  const file = `${home.path}/file`;
  Deno.writeTextFileSync(file, "");
  using watch = new FileWatch();
  let told = 0;
  for (let round = 1; round <= 200; round++) {
    watch.once(watchedPath(file), () => told++);
    Deno.writeTextFileSync(file, "xx");
    if (round % 7 === 0) await waitFor(() => told === round);
  }
  await waitFor(() => told === 200);
});
