import { assertEquals, assertRejects } from "@std/assert";
import { reporting } from "../../src/mcp/server.ts";
import type { Call } from "../../src/mcp/tools.ts";
import { ProcsupError } from "../../src/model/errors.ts";

Deno.test("reporting() logs an unexpected error, and hides its details from agents", async () => {
  const told: string[] = [];
  const failing = (error: unknown) => (() => Promise.reject(error)) as Call;
  const report = (error: Error) => told.push(error.message);
  const secret = reporting(failing(new TypeError("/secret/path")), report);
  await assertRejects(() => secret("list"), ProcsupError, 'went wrong within "list"');
  assertEquals(told, ["/secret/path"]);

  const known = reporting(failing(new ProcsupError("closed", "It has gone")), report);
  await assertRejects(() => known("list"), ProcsupError, "It has gone");
  const gone = reporting(failing(new Error("cancelled")), report);
  const signal = AbortSignal.abort();
  await assertRejects(() => gone("list", undefined, { signal }), Error, "cancelled");
  assertEquals(told.length, 1);
});
