/** The registry of verbs: rows match their schemas, and input is checked once for all surfaces. */

import { assert, assertEquals, assertThrows } from "@std/assert";
import * as z from "zod/mini";
import { ProcsupError } from "../../src/model/errors.ts";
import { readRequest, readVerb, REST_ROWS, VERB_ROWS } from "../../src/verbs/mod.ts";
import { fieldsOf, readQuery } from "../../src/verbs/read_input.ts";

Deno.test("REST_ROWS name fields of their verbs, and no route twice", () => {
  const seen = new Set<string>();
  for (const { name, verb, row } of REST_ROWS) {
    const fields = Object.keys(fieldsOf(verb));
    const { query = [], fixed = {}, defaults = {}, bodyField = fields[0], path, method } = row;
    const named = [...query, ...Object.keys(fixed), ...Object.keys(defaults)];
    if (bodyField !== undefined) named.push(bodyField);
    if (path.includes("{")) named.push(verb.bare!);
    assertEquals(named.filter((field) => !fields.includes(field)), [], `${name} ${path}`);
    assert(!seen.has(`${method} ${path}`), path);
    seen.add(`${method} ${path}`);
  }
});

Deno.test("VERB_ROWS have MCP rows that accept only fields of their verb", () => {
  for (const [name, verb] of VERB_ROWS) {
    const { bare, mcp } = verb;
    // Tools that build their verb's input from other fields.
    if (mcp === undefined || ["add", "list", "reload", "config_reload"].includes(name)) continue;
    const fields = [...Object.keys(fieldsOf(verb)), ...bare === undefined ? [] : ["target"]];
    const given = Object.keys(mcp.input.shape);
    assertEquals(given.filter((field) => !fields.includes(field)), [], name);
  }
});

Deno.test("VERB_ROWS have inputs and outputs that JSON Schema can express", () => {
  for (const [, { input, output }] of VERB_ROWS) {
    // It has no word for a missing input. It throws for whatever else it cannot express.
    for (const schema of input instanceof z.ZodMiniUndefined ? [output] : [input, output]) {
      z.toJSONSchema(schema);
    }
  }
});

Deno.test("readVerb() distinguishes start from add by the target", () => {
  const asked = (verb: string, payload: unknown) => {
    const request = readVerb(verb, payload);
    return [request.name, request.verb.role];
  };
  assertEquals(asked("start", { target: "api" }), ["start", "operate"]);
  assertEquals(asked("start", "api"), ["start", "operate"]);
  assertEquals(asked("start", { name: "api" }), ["add", "admin"]);
  assertEquals(asked("add", { config: {}, target: "api" }), ["add", "admin"]);
  for (const neither of [5, [], ["api"], [{ name: "api" }]]) {
    assertThrows(() => readRequest("start", neither), ProcsupError, "expected");
  }
  assertThrows(() => readVerb("toString", {}), ProcsupError, "Unknown verb");
});

Deno.test("readRequest() names the field, the value and the expected one", () => {
  const message = (verb: string, payload: unknown) =>
    assertThrows(() => readRequest(verb, payload), ProcsupError).message;
  assertEquals(
    message("stop", { target: "api", timeout: "soon" }),
    'Invalid "timeout" "soon": expected a number with a unit, such as "5s", "1m30s" or "200ms"',
  );
  assertEquals(
    message("logs", { target: "api", lines: 10_001 }),
    'Invalid "lines" 10001: expected a number from 0 to 10000',
  );
  assertEquals(
    message("stop", { target: "api", forse: true }),
    'Unknown field "forse": did you mean "force"?',
  );
  assertEquals(message("stop", {}), 'Missing "target"');
  assertEquals(message("scale", { target: "api" }), 'Missing "instances"');
  assertEquals(
    message("stop", { target: null }),
    'Invalid "target": expected string or list',
  );
  // Anything deeper may be a secret.
  const variables = { TOKEN: 5 };
  assertEquals(
    message("start_all", { variables }),
    'Invalid "variables.TOKEN": expected string, received number',
  );
});

Deno.test("readQuery() converts to the verb's types, and has REST's own defaults", () => {
  const stop = REST_ROWS.find(({ name }) => name === "stop")!;
  const read = (text: string) => readQuery(stop.verb, stop.row, new URLSearchParams(text));
  assertEquals(read(""), { timeout: "5s" });
  assertEquals(read("force=1&timeout=own"), { force: true });
  assertEquals(read("force=yes&timeout=1m"), { force: "yes", timeout: "1m" });
  assertThrows(() => read("forse=true"), ProcsupError, 'did you mean "force"');
  assertThrows(() => read("timeout=1s&timeout=2s"), ProcsupError, '"timeout" is given twice');
  // One value, or several where a list is possible.
  const history = REST_ROWS.find(({ name }) => name === "metrics_history")!;
  const targets = (text: string) =>
    readQuery(history.verb, history.row, new URLSearchParams(text)).target;
  assertEquals(targets("target=api"), "api");
  assertEquals(targets("target=api&target=db"), ["api", "db"]);
});

Deno.test("readRequest() refuses fields for a verb without fields", () => {
  for (const payload of [undefined, null, {}]) {
    assertEquals(readRequest("list", payload), { name: "list", input: undefined });
  }
  const named = () => readRequest("list", { target: "api" });
  assertThrows(named, ProcsupError, 'Unknown field "target"');
  assertThrows(() => readRequest("list", "api"), ProcsupError, "Invalid payload: expected map");
});
