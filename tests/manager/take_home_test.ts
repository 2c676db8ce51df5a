/** Taking and guarding a home directory. */

import { assertEquals, assertRejects } from "@std/assert";
import { takeLock } from "../../src/platform/files/lock.ts";
import { prepareHome } from "../../src/platform/files/paths.ts";
import { ProcsupError } from "../../src/model/errors.ts";
import { takeHome } from "../../src/manager/take_home.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";

Deno.test("guard() restores state folders in a home in which nothing else changes", async () => {
  await using temp = tempHome();
  using home = await takeHome(temp.path);
  const { home: folder, records } = home.paths;
  let [looks, warnings] = [0, ""];
  for (const path of [folder, `${folder}/state`]) Deno.utimeSync(path, 1, 1);
  home.guard({
    changed: () => looks++,
    lost: () => {},
    warn: (message) => warnings += message,
  });
  await waitFor(() => looks === 1, { what: "a first look" });
  Deno.removeSync(records, { recursive: true });
  await waitFor(() => looks > 1, { what: "the folder to be restored" });
  assertEquals([Deno.statSync(records).isDirectory, warnings], [true, ""]);
});

Deno.test("guard() warns once while a file is where the home's parent was", async () => {
  await using temp = tempHome();
  const [parent, away] = [`${temp.path}/parent`, `${temp.path}/away`];
  using home = await takeHome(`${parent}/home`);
  const warnings: string[] = [];
  let looks = 0;
  home.guard({ changed: () => looks++, lost: () => {}, warn: (text) => void warnings.push(text) });
  await waitFor(() => looks > 0, { what: "a first look" });
  Deno.renameSync(parent, away);
  Deno.writeTextFileSync(parent, "");
  await waitFor(() => warnings.length > 0, { what: "a warning" });
  Deno.removeSync(parent);
  Deno.renameSync(away, parent);
  const before = looks;
  await waitFor(() => looks > before, { what: "a look at the home that is back" });
  assertEquals([warnings.length, /^Cannot check home ".*/.test(warnings[0]!)], [1, true]);
});

Deno.test("takeHome() waits for a supervisor that takes half a second to end", async () => {
  await using temp = tempHome();
  const { lock: path } = prepareHome(temp.path);
  const lock = takeLock(path)!;
  setTimeout(() => lock[Symbol.dispose](), 500);
  using home = await takeHome(temp.path);
  assertEquals(home.paths.home, temp.path);
});

Deno.test("takeHome() names the process that has the home", async () => {
  await using temp = tempHome();
  using _home = await takeHome(temp.path);
  const by = Deno.build.os === "linux"
    ? `the supervisor with pid ${Deno.pid}`
    : "another supervisor";
  await assertRejects(() => takeHome(temp.path), ProcsupError, `is in use by ${by}`);
});
