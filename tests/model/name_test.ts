/** What a process may be called. */

import { assertEquals, assertMatch } from "@std/assert";
import fc from "fast-check";
import { baseName, instanceNames, nameFromPath, nameProblem } from "../../src/model/name.ts";

Deno.test("nameProblem() has nothing against letters, digits, dots, underscores and dashes", () => {
  for (const name of ["a", "api", "api-2", "My_App.v1", "1a", "a".repeat(128), "allow", "1.0"]) {
    assertEquals(nameProblem(name), undefined, name);
  }
});

Deno.test("nameProblem() refuses other characters and says which are allowed", () => {
  for (const name of ["", "-a", ".a", "_a", "a b", "a/b", "a:0", "ä", "a\n", "a\0", "../a"]) {
    assertMatch(nameProblem(name) ?? "", /must start with a letter or digit/, name);
  }
});

Deno.test("nameProblem() refuses what addresses something else, and what is too long", () => {
  for (const name of ["all", "All", "ALL"]) assertMatch(nameProblem(name) ?? "", /reserved/);
  for (const name of ["0", "12"]) assertMatch(nameProblem(name) ?? "", /all digits/);
  assertMatch(nameProblem("a".repeat(129)) ?? "", /129 characters long, 128 are allowed/);
});

Deno.test("nameFromPath() takes the file's name without its extension", () => {
  const known: Record<string, string> = {
    "/srv/api.ts": "api",
    "api": "api",
    "./worker.py": "worker",
    "/srv/My app.ts": "My-app",
    "/usr/bin/redis-server": "redis-server",
    "/srv/app/": "app",
    ".env": "env",
    "app.config.js": "app.config",
    "/": "app",
  };
  for (const [path, name] of Object.entries(known)) assertEquals(nameFromPath(path), name);
});

Deno.test("nameFromPath() makes a name of a path that holds none", () => {
  for (const path of ["/srv/all.ts", "/srv/123", "", "/", "ä"]) {
    assertMatch(nameFromPath(path), /^app(-.+)?$/, path);
  }
});

Deno.test("nameFromPath() makes a valid name of any path", () => {
  const paths = fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.string({ minLength: 120 }));
  fc.assert(fc.property(paths, (path) => assertEquals(nameProblem(nameFromPath(path)), undefined)));
});

Deno.test("instanceNames() numbers the instances when there are several", () => {
  assertEquals(instanceNames("api", 1), ["api"]);
  assertEquals(instanceNames("api", 3), ["api:0", "api:1", "api:2"]);
});

Deno.test("baseName() is the name that all instances share", () => {
  assertEquals(baseName("api:3"), "api");
  assertEquals(baseName("api:12"), "api");
  assertEquals(baseName("api"), "api");
  assertEquals(baseName("api-3"), "api-3");
});
