/** Records that a new daemon finds. */

import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { begun, ended, newApp, wantedConfig, withCount } from "../../src/model/app.ts";
import { parseConfig } from "../../src/model/config_schema.ts";
import { NEW, type Snapshot } from "../../src/model/process_state.ts";
import { Records } from "../../src/manager/records.ts";
import { copyOf } from "../../src/platform/files/state_file.ts";
import { flip } from "../support/damage.ts";

const identity = {
  id: "0a0b0c0d-0000-4000-8000-000000000000",
  numericId: 3,
  app: "api",
  name: "api",
  instanceIndex: 0,
  createdAt: new Date(1000),
};
const app = newApp(parseConfig({ name: "api", entrypoint: "/bin/true", cwd: "/" }));

function at(restarts: number): { identity: typeof identity; snapshot: Snapshot } {
  return { identity, snapshot: { ...NEW, state: "running", restarts } };
}

async function withRecords(
  act: (records: Records, path: string, reread: () => Records) => void,
): Promise<void> {
  const folder = Deno.makeTempDirSync({ prefix: "procsup-test-" });
  try {
    const paths = { records: folder, numericId: `${folder}/numeric_id` };
    act(new Records(paths), `${folder}/${identity.id}.json`, () => new Records(paths));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("Records.readAll() returns the last snapshot with identity and configuration", () =>
  withRecords((records, _path, reread) => {
    for (const restarts of [1, 2, 3]) records.write(at(restarts));
    const problems: string[] = [];
    assertEquals(reread().readAll(), { apps: [], records: [at(3)], problems, nextNumericId: 4 });
  }));

Deno.test("Records.readAll() falls back to the last complete line when the last one was cut short", () =>
  withRecords((records, path, reread) => {
    for (const restarts of [1, 2, 3]) records.write(at(restarts));
    Deno.truncateSync(path, Deno.statSync(path).size - 5);
    const { records: [found], problems } = reread().readAll();
    assertEquals(found?.snapshot.restarts, 2);
    assertEquals(problems.length, 1);
    assert(Deno.statSync(`${path}.unreadable`).isFile);
  }));

/** Possible damage to a file while no daemon runs. */
const DAMAGE: Readonly<Record<string, (path: string, size: number) => void>> = {
  "removed": (path) => Deno.removeSync(path),
  "emptied": (path) => Deno.truncateSync(path),
  "truncated in the first line": (path) => Deno.truncateSync(path, 100),
  "truncated in the last line": (path, size) => Deno.truncateSync(path, size - 5),
  "first bit flipped": (path) => flip(path, 0),
  "last bit flipped": (path, size) => flip(path, size * 8 - 1),
};

for (const [how, damage] of Object.entries(DAMAGE)) {
  Deno.test(`Records.readAll() recognizes a process by the copy of its record: ${how}`, () =>
    withRecords((records, path, reread) => {
      for (const restarts of [1, 2, 3]) records.write(at(restarts));
      records.writeCopy(at(3));
      damage(path, Deno.statSync(path).size);
      const { records: found, problems } = reread().readAll();
      assertEquals(found, [at(3)]);
      assertStringIncludes(problems.join("\n"), path);
      damage(copyOf(path), Deno.statSync(copyOf(path)).size);
      // Set aside, or removed: with a damaged copy too, the record is lost without an error.
      const left = reread().readAll().records;
      assert(left.length === 0 || left[0]!.identity.id === identity.id);
    }));
}

Deno.test("Records.readAll() rejects a line with any flipped bit", () =>
  withRecords((records, path, reread) => {
    for (const restarts of [1, 2]) records.write(at(restarts));
    records.writeCopy(at(2));
    const [file, copy] = [Deno.readFileSync(path), Deno.readFileSync(copyOf(path))];
    for (let bit = 0; bit < file.length * 8; bit += 61) {
      Deno.writeFileSync(path, file);
      Deno.writeFileSync(copyOf(path), copy);
      flip(path, bit);
      assertEquals(reread().readAll().records, [at(2)], `bit ${bit}`);
    }
  }));

Deno.test("Records.readAll() keeps other records when one is damaged", () =>
  withRecords((records, path, reread) => {
    const other = { ...at(7), identity: { ...identity, id: "other", numericId: 4, name: "b" } };
    records.write(at(1));
    records.write(other);
    Deno.writeTextFileSync(path, "null\t1");
    assertEquals(reread().readAll().records, [other]);
  }));

Deno.test("Records.writeJoint() records all of several processes, also if none is written by itself", () =>
  withRecords((records, path, reread) => {
    const other = { ...at(7), identity: { ...identity, id: "other", numericId: 4, name: "b" } };
    records.write(at(1));
    records.writeJoint([at(2), other]);
    // Killed here, or after the first is written, and a second time while the next daemon reads.
    const joint = Deno.readTextFileSync(`${path.replace(/[^/]*$/, "")}joint`);
    for (const _ of [1, 2]) {
      assertEquals(reread().readAll().records, [at(2), other]);
      Deno.writeTextFileSync(`${path.replace(/[^/]*$/, "")}joint`, joint);
    }
    // What is newer stays, and what was removed stays away.
    const next = reread();
    next.readAll();
    next.writeJoint([at(3), other]);
    next.write(at(4));
    assertEquals(reread().readAll().records, [at(4), other]);
    next.writeJoint([at(5), other]);
    next.remove(other);
    assertEquals(reread().readAll().records, [at(4)]);
  }));

Deno.test("Records.readAll() sets damaged joint records aside, and uses none of them", () =>
  withRecords((records, path, reread) => {
    const other = { ...at(7), identity: { ...identity, id: "other", numericId: 4, name: "b" } };
    records.write(at(1));
    records.writeJoint([at(2), other]);
    const joint = `${path.replace(/[^/]*$/, "")}joint`;
    Deno.truncateSync(joint, Deno.statSync(joint).size - 5);
    const { records: found, problems } = reread().readAll();
    assertEquals([found, problems.length], [[at(1)], 1]);
  }));

Deno.test("Records remember numeric ids that were assigned and are no longer in use", () =>
  withRecords((records, _path, reread) => {
    records.write(at(1));
    assertEquals(reread().readAll().nextNumericId, 4);
    records.keepNumericId(4);
    records.remove(at(1));
    assertEquals(reread().readAll(), { apps: [], records: [], problems: [], nextNumericId: 4 });
  }));

Deno.test("Records.write() rewrites a file after the disk refused a line", () =>
  withRecords((records, path, reread) => {
    records.write(at(1));
    // As on a full disk, a part of a line may have been written.
    Deno.removeSync(path);
    Deno.mkdirSync(path);
    assertThrows(() => records.write(at(2)));
    Deno.removeSync(path);
    Deno.writeTextFileSync(path, "half a line");
    records.write(at(3));
    assertEquals(reread().readAll().records, [at(3)]);
  }));

Deno.test("Records.write() keeps a file from growing without limit", () =>
  withRecords((records, path, reread) => {
    for (let restarts = 1; restarts <= 1000; restarts++) records.write(at(restarts));
    const { size } = Deno.statSync(path);
    assertEquals(size < 64 * 1024, true, `${size} bytes`);
    assertEquals(reread().readAll().records[0]?.snapshot.restarts, 1000);
  }));

Deno.test("Records.write() recreates a complete file when it was removed", () =>
  withRecords((records, path, reread) => {
    records.write(at(1));
    Deno.removeSync(path);
    records.write(at(2));
    assertEquals(reread().readAll().records, [at(2)]);
  }));

Deno.test("Records.write() records a new name", () =>
  withRecords((records, _path, reread) => {
    records.write(at(1));
    const renamed = { ...identity, name: "api:0" };
    records.write({ ...at(2), identity: renamed });
    assertEquals(reread().readAll().records, [{ ...at(2), identity: renamed }]);
  }));

Deno.test("Records of an app survive damage, and are joint with those of processes", () =>
  withRecords((records, path, reread) => {
    const file = `${path.replace(/[^/]*$/, "")}api.app.json`;
    records.write(app);
    const two = withCount(app, 2);
    records.writeJoint([two, at(1)]);
    assertEquals(reread().readAll().apps, [two]);
    records.write(two);
    records.writeCopy(two);
    for (const damage of Object.values(DAMAGE)) {
      damage(file, Deno.statSync(file).size);
      const { apps, problems } = reread().readAll();
      assertEquals([apps, problems.length], [[two], 1]);
    }
    records.remove(two);
    assertEquals(reread().readAll().apps, []);
  }));

Deno.test("Records.write() appends what changes of an app, until it has another configuration", () =>
  withRecords((records, path, reread) => {
    const file = `${path.replace(/[^/]*$/, "")}api.app.json`;
    const lines = () => Deno.readTextFileSync(file).split("\n");
    records.write(app);
    const how = { by: "user", batch: 1, waitReady: true, rollback: false };
    const reloading = begun(app, { ...how, changes: [], reload: ["a"], at: 1 });
    records.write(reloading);
    records.writeCopy(reloading);
    assertEquals(lines().length, 2);
    const [found] = reread().readAll().apps;
    assertEquals(found, reloading);
    // Generations that share a configuration go on sharing it.
    assertEquals(found!.specs[0]!.config === found!.specs[1]!.config, true);
    const config = { ...wantedConfig(app), args: ["--new"] };
    const changed = begun(app, { ...how, config, changes: [], reload: [], at: 2 });
    records.write(changed);
    assertEquals(lines().length, 1);
    assertEquals(reread().readAll().apps, [changed]);
  }));

Deno.test("Records.readAll() gives an app no configuration of the copy that it does not mean", () =>
  withRecords((records, path, reread) => {
    const file = `${path.replace(/[^/]*$/, "")}api.app.json`;
    records.write(app);
    records.writeCopy(app);
    const config = { ...wantedConfig(app), args: ["--new"] };
    const how = { by: "user", batch: 1, waitReady: true, rollback: false, changes: [], reload: [] };
    const changed = begun(app, { ...how, config, at: 2 });
    records.write(changed);
    records.write(ended(changed, "done", 3));
    // The configuration was only in the line that is lost.
    flip(file, 0);
    assertEquals(reread().readAll().apps, [app]);
  }));
