import { assertEquals, assertThrows } from "@std/assert";
import { parseConfig } from "../../src/model/config_schema.ts";

const app = (more: object) =>
  parseConfig({ name: "a", entrypoint: "/bin/true", cwd: "/", ...more });

Deno.test("parseConfig() refuses ids that the system would read as another user's or as root's", () => {
  // To the system 2^32 is 0, and 2^32 - 1 leaves the user as it is. `getent` reads "+0" as 0.
  const wrong = [
    2 ** 32,
    2 ** 32 - 1,
    2 ** 32 + 5,
    -1,
    1.5,
    "4294967296",
    "4294967295",
    "00",
    "007",
  ];
  for (const id of [...wrong, "+0", "-1", " 0", "0 ", "0\n", "a:b", ""]) {
    for (const key of ["uid", "gid"]) {
      const error = assertThrows(() => app({ [key]: id }), Error, `"${key}" ${JSON.stringify(id)}`);
      assertEquals(/expected/.test(error.message), true, error.message);
    }
  }
  for (
    const id of [0, 1000, 2 ** 32 - 2, "0", "1000", "4294967294", "www-data", "1foo", "me@corp"]
  ) {
    assertEquals([app({ uid: id }).uid, app({ gid: id }).gid], [id, id]);
  }
});
