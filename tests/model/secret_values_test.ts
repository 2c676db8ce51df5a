import { assertEquals, assertThrows } from "@std/assert";
import { configChanges } from "../../src/model/config_diff.ts";
import { parseConfig } from "../../src/model/config_schema.ts";
import { masked, maskedUrl, unmasked } from "../../src/model/secret_values.ts";

const withUrl = (url: string) => ({
  name: "api",
  entrypoint: "api.sh",
  cwd: "/srv",
  health_check: { type: "http", url },
});

Deno.test("maskedUrl() keeps host, path and names, and no user, password or value", () => {
  const shown: Readonly<Record<string, string>> = {
    "http://127.0.0.1:80/live": "http://127.0.0.1:80/live",
    "http://me:pw@host/": "http://***@host/",
    "http://me:p@w@host/a@b": "http://***@host/a@b",
    "http://host/?token=abc&b=&c": "http://host/?token=***&***&***",
    "http://host?a=b?c=d&e=f#g": "http://host?a=***?c=***&e=***#g",
  };
  for (const [url, text] of Object.entries(shown)) {
    assertEquals(maskedUrl(url), text);
    assertEquals(maskedUrl(text), text);
  }
});

Deno.test("the password in a health check's URL is in no answer and in no list of changes", () => {
  const [before, after] = ["http://me:pw1@host/", "http://me:pw2@host/"].map(withUrl);
  assertEquals(masked(before!), withUrl("http://***@host/"));
  const changes = (to: unknown) => configChanges(parseConfig(before), parseConfig(to));
  assertEquals(changes(after), [{ field: "health_check.url" }]);
  assertEquals(changes(withUrl("http://other/")), [
    { field: "health_check.url", from: "http://***@host/", to: "http://other/" },
  ]);
  assertThrows(() => unmasked(masked(before!), {}), Error, '"health_check.url"');
  assertThrows(() => unmasked({ env: { A: "***" } }, { env: { B: "1" } }), Error, '"env.A"');
  assertEquals(unmasked(masked(before!), before!), before);
  assertEquals(unmasked({ env: { A: "***", B: "2" } }, { env: { A: "1", B: "1" } }), {
    env: { A: "1", B: "2" },
  });
  const wrong = { ...withUrl("ftp://me:pw1@host/") };
  const error = assertThrows(() => parseConfig(wrong), Error);
  assertEquals(error.message.includes("pw1"), false, error.message);
});
