/** Valid process names. */

import { assertEquals, assertMatch } from "@std/assert";
import fc from "fast-check";
import { baseName, instanceNames, nameFromPath, nameProblem } from "../../src/model/name.ts";

Deno.test("nameProblem() accepts letters, digits, dots, underscores and dashes", () => {
  for (const name of ["a", "api", "api-2", "My_App.v1", "1a", "a".repeat(128), "allow", "1.0"]) {
    assertEquals(nameProblem(name), undefined, name);
  }
});

Deno.test("nameProblem() rejects other characters and lists the allowed ones", () => {
  for (const name of ["", "-a", ".a", "_a", "a b", "a/b", "a:0", "ä", "a\n", "a\0", "../a"]) {
    assertMatch(nameProblem(name) ?? "", /must start with a letter or digit/, name);
  }
});

Deno.test("nameProblem() rejects names with another meaning as a target, and names that are too long", () => {
  for (const name of ["all", "All", "ALL"]) assertMatch(nameProblem(name) ?? "", /reserved/);
  for (const name of ["0", "12"]) assertMatch(nameProblem(name) ?? "", /all digits/);
  assertMatch(nameProblem("a".repeat(129)) ?? "", /129 characters long, at most 128 are allowed/);
});

Deno.test("nameFromPath() returns the file name without its extension", () => {
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

Deno.test("nameFromPath() makes up a name for a path that contains none", () => {
  for (const path of ["/srv/all.ts", "/srv/123", "", "/", "ä"]) {
    assertMatch(nameFromPath(path), /^app(-.+)?$/, path);
  }
});

Deno.test("nameFromPath() returns a valid name for any path", () => {
  const paths = fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.string({ minLength: 120 }));
  fc.assert(fc.property(paths, (path) => assertEquals(nameProblem(nameFromPath(path)), undefined)));
});

Deno.test("instanceNames() numbers the instances when there is more than one", () => {
  assertEquals(instanceNames("api", 1), ["api"]);
  assertEquals(instanceNames("api", 3), ["api:0", "api:1", "api:2"]);
});

Deno.test("baseName() returns the name that all instances share", () => {
  assertEquals(baseName("api:3"), "api");
  assertEquals(baseName("api:12"), "api");
  assertEquals(baseName("api"), "api");
  assertEquals(baseName("api-3"), "api-3");
});
