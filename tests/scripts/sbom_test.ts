import { fromFileUrl } from "@std/path";
import { assertEquals } from "@std/assert";
import { type Info, reachedPackages, shippedPackages } from "../../scripts/compile/sbom.ts";

const root = fromFileUrl(import.meta.resolve("../..")).replace(/\/$/, "");

Deno.test("reachedPackages() lists imported packages and their dependencies, and nothing else", () => {
  const named = (name: string, ...dependencies: string[]) => ({ name, version: "1", dependencies });
  const info: Info = {
    modules: [
      { specifier: "main.ts", dependencies: [{ code: { specifier: "npm:a" } }, {}] },
      { specifier: "npm:/a@1", npmPackage: "a@1" },
      { specifier: "npm:/types@1", npmPackage: "types@1" },
    ],
    redirects: { "npm:a": "npm:/a@1" },
    npmPackages: {
      "a@1": named("a", "b@1"),
      "b@1": named("b", "a@1"),
      "test@1": named("test"),
      "types@1": named("types"),
    },
  };
  assertEquals(reachedPackages([info]).map(({ name }) => name), ["a", "b"]);
});

Deno.test("shippedPackages() includes prebundled packages, and none of the tests", async () => {
  const names = (await shippedPackages(root)).map(({ name }) => name);
  const expected = ["hono", "zod", "preact", "yaml", "deno-std", "@modelcontextprotocol/core"];
  for (const name of expected) assertEquals(names.includes(name), true, name);
  const tests = [
    "playwright-core",
    "axe-core",
    "fast-check",
    "ajv",
    "@modelcontextprotocol/client",
  ];
  for (const name of tests) assertEquals(names.includes(name), false, name);
  assertEquals(names, [...new Set(names)], "only tests use a second version");
});

Deno.test("docs/packages.md names every imported and shipped package", async () => {
  const page = Deno.readTextFileSync(`${root}/src/docs/packages.md`);
  const { imports } = JSON.parse(Deno.readTextFileSync(`${root}/deno.json`));
  const missing = (await shippedPackages(root)).map(({ name }) => name)
    .filter((name) => Object.values<string>(imports).some((it) => it.startsWith(`npm:${name}@`)))
    .filter((name) => !new RegExp(`(?:^| )${name}[, ]`, "m").test(page));
  assertEquals(missing, []);
});
