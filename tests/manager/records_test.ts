/** What a new daemon finds on record. */

import { assertEquals } from "@std/assert";
import { parseConfig } from "../../src/model/config_schema.ts";
import { NEW, type Snapshot } from "../../src/model/process_state.ts";
import { Records } from "../../src/manager/records.ts";

const identity = {
  id: "0a0b0c0d-0000-4000-8000-000000000000",
  numericId: 3,
  name: "api",
  instanceIndex: 0,
  createdAt: new Date(1000),
};
const config = parseConfig({ name: "api", entrypoint: "/bin/true", cwd: "/" });

function at(
  restarts: number,
): { identity: typeof identity; config: typeof config; snapshot: Snapshot } {
  return { identity, config, snapshot: { ...NEW, state: "running", restarts } };
}

async function withRecords(
  act: (records: Records, path: string, reread: () => Records) => void,
): Promise<void> {
  const folder = Deno.makeTempDirSync({ prefix: "procsup-test-" });
  try {
    act(new Records(folder), `${folder}/${identity.id}.json`, () => new Records(folder));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("Records.readAll() gives the last snapshot with the identity and the configuration", () =>
  withRecords((records, _path, reread) => {
    for (const restarts of [1, 2, 3]) records.write(at(restarts));
    assertEquals(reread().readAll(), { records: [at(3)], problems: [] });
  }));

Deno.test("Records.readAll() goes back to the last whole line when the last one was cut short", () =>
  withRecords((records, path, reread) => {
    records.write(at(1));
    records.write(at(2));
    records.write(at(3));
    Deno.truncateSync(path, Deno.statSync(path).size - 5);
    assertEquals(reread().readAll().records[0]?.snapshot.restarts, 2);
    records.write(at(4));
    assertEquals(reread().readAll().records[0]?.snapshot.restarts, 4);
  }));

Deno.test("Records.write() does not let a file grow without end", () =>
  withRecords((records, path, reread) => {
    for (let restarts = 1; restarts <= 1000; restarts++) records.write(at(restarts));
    const { size } = Deno.statSync(path);
    assertEquals(size < 64 * 1024, true, `${size} bytes`);
    assertEquals(reread().readAll().records[0]?.snapshot.restarts, 1000);
  }));

Deno.test("Records.write() makes a whole file again when somebody removed it", () =>
  withRecords((records, path, reread) => {
    records.write(at(1));
    Deno.removeSync(path);
    records.write(at(2));
    assertEquals(reread().readAll().records, [at(2)]);
  }));

Deno.test("Records.write() records another name and another configuration", () =>
  withRecords((records, _path, reread) => {
    records.write(at(1));
    const other = { ...config, maxRestarts: 7 };
    const renamed = { ...identity, name: "api:0" };
    records.write({ ...at(2), config: other, identity: renamed });
    assertEquals(reread().readAll().records, [{ ...at(2), config: other, identity: renamed }]);
  }));
