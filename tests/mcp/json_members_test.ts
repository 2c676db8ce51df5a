import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { memberAt, withMember, withoutMember } from "../../src/mcp/json_members.ts";

const PATH = ["servers", "own"];

for (
  const [name, text, changed] of [
    ["an empty object", "{}\n", '{\n  "servers": {\n    "own": {\n      "a": 1\n    }\n  }\n}\n'],
    [
      "comments, tabs and a trailing comma",
      '{\n\t// mine\n\t"servers": {\n\t\t"x": { "b": [1, 2] }, // last, of x\n\t},\n}\n',
      '{\n\t// mine\n\t"servers": {\n\t\t"x": { "b": [1, 2] }, // last, of x\n' +
      '\t\t"own": {\n\t\t\t"a": 1\n\t\t},\n\t},\n}\n',
    ],
    [
      "a comment after the last member",
      '{\r\n  "servers": {\r\n    "x": {} // ",", and }\r\n    /* end */\r\n  }\r\n}',
      '{\r\n  "servers": {\r\n    "x": {}, // ",", and }\r\n    /* end */\r\n' +
      '    "own": {\r\n      "a": 1\r\n    }\r\n  }\r\n}',
    ],
    [
      "one line",
      '{"theme": "dark"}',
      '{"theme": "dark",\n  "servers": {\n    "own": {\n      "a": 1\n    }\n  }\n}',
    ],
    [
      "an existing entry",
      '{\n    "servers": { "own": 5, /* other */ "x": 1 }\n}\n',
      '{\n    "servers": { "own": {\n            "a": 1\n        }, /* other */ "x": 1 }\n}\n',
    ],
  ] as const
) {
  Deno.test(`withMember() changes nothing else when the file has ${name}`, () => {
    assertEquals(withMember(text, PATH, { a: 1 }), changed);
    assertEquals(memberAt(changed, PATH), { a: 1 });
  });
}

for (
  const [name, text, changed] of [
    ["alone", '{\n  "servers": {\n    "own": 1\n  }\n}', '{\n  "servers": {\n  }\n}'],
    [
      "the last one, after a comment",
      '{"servers": {\n  "x": 1, // a, b\n  "own": 1\n}}',
      '{"servers": {\n  "x": 1 // a, b\n}}',
    ],
    [
      "followed by another on its line",
      '{"servers": { // first\n  "own": 1 /* 1 */, "x": 2,\n}}',
      '{"servers": { // first\n  /* 1 */"x": 2,\n}}',
    ],
    [
      "followed by a comma and a comment",
      '{"servers": {\n  "own": 1, // ours\n}}',
      '{"servers": {\n  // ours\n}}',
    ],
    ["not there", '{"servers": {} // none\n}', '{"servers": {} // none\n}'],
  ] as const
) {
  Deno.test(`withoutMember() removes only the member when it is ${name}`, () => {
    assertEquals(withoutMember(text, PATH), changed);
    assertEquals(memberAt(changed, PATH), undefined);
  });
}

Deno.test("withMember() and withoutMember() have the same effect on any JSON text as on its value", () => {
  const other = fc.dictionary(fc.string().filter((key) => key !== "__proto__"), fc.jsonValue());
  const member = fc.jsonValue();
  const indent = fc.constantFrom(undefined, 1, 2, "\t");
  fc.assert(
    fc.property(other, fc.option(other), member, indent, (root, servers, value, space) => {
      const before = { ...root, ...(servers === null ? {} : { servers }) };
      if (servers === null) delete (before as Record<string, unknown>).servers;
      const text = JSON.stringify(before, null, space);
      const merged = withMember(text, PATH, value);
      const wanted = { ...before, servers: { ...servers, own: value } };
      assertEquals(JSON.stringify(sorted(JSON.parse(merged))), JSON.stringify(sorted(wanted)));
      const { own: _, ...left } = wanted.servers;
      assertEquals(
        JSON.stringify(sorted(JSON.parse(withoutMember(merged, PATH)))),
        JSON.stringify(sorted({ ...wanted, servers: left })),
      );
    }),
    { numRuns: 200 },
  );
});

Deno.test("withMember() rejects invalid JSON, anything but an object, and another kind of value in its place", () => {
  for (const text of ["{", "[]", '{"servers": 5}', '{"servers": []}', "{} x", '{"a" 1}', "// no"]) {
    assertThrows(() => withMember(text, PATH, 1), Error, "Cannot edit");
  }
});

/** JSON with its keys in order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1).map((
      [key, one],
    ) => [key, sorted(one)]),
  );
}
