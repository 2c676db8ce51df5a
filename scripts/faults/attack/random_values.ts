/** Random values that a JSON schema allows, and sometimes values that it nearly allows. */

import type { Random } from "../chaos/random.ts";

/** A JSON schema, or a document that contains some. */
// deno-lint-ignore no-explicit-any
export type Schema = any;

/** Edge cases of text. They are used as commands, paths and targets, so none may be harmful. */
const TEXTS = [
  ...["", " ", "a", "fuzz0", "nope", "true", "50ms", "1s", "1MB", "-1", "1e9", "null", "${NOPE}"],
  ...["\0", "\x1b[2J", "\u202e", "é", "🚀", "\ud800", "a\nb", "a\r\nb", "../../nope", "%2e%2e%2f"],
  ...[
    "__proto__",
    "constructor",
    "toString",
    "x".repeat(300),
    "x".repeat(20_000),
    "(a+)+$",
    "[",
    "*",
  ],
  ...[
    "SIGTERM",
    "SIGNOPE",
    "yesterday",
    "* * * * *",
    "60 * * * *",
    "127.0.0.1:0",
    "ns:nope",
    "tag:",
  ],
];
const NUMBERS = [0, 1, 2, -1, 1.5, 1e308, -1e308, 2 ** 31, 2 ** 53, 2 ** 64, 1e-9];
const ODD = [...NUMBERS, ...TEXTS, null, true, false, [], {}, [[]], { "": "" }, ["a", 1, null]];
const MOST_DEPTH = 6;

/** Values by key that keep a fuzzed configuration harmless and fast. */
const HARMLESS: Readonly<Record<string, readonly unknown[]>> = {
  name: ["fuzz0", "fuzz1", "fuzz2", "fuzz3", "", "a/b", "x".repeat(300), 1],
  target: ["fuzz0", "fuzz1", "fuzz2", "nope", "ns:nope", "tag:nope", "label:a=b", "", null],
  entrypoint: ["/bin/true", "/bin/false", "/bin/sleep", "nope", ""],
  command: ["true", "false", "nope", ""],
  args: [[], ["1"], ["-x", ""], "nope"],
  cwd: ["/tmp", "/nope", "nope", ""],
  instances: [1, 2, "+1", "-1", -1, 0, 1e9, "nope"],
  paths: [["/tmp"], [""], "nope"],
  interpreter: ["/bin/sh", "nope"],
  listen_timeout: ["10ms", "1s", "nope"],
  stop_timeout: ["10ms", "100ms", "nope"],
  timeout: ["10ms", "100ms", "nope", -1],
  prune: [false],
  url: ["http://127.0.0.1:1/", "nope"],
};

export class RandomValues {
  readonly random: Random;
  #named: Schema = {};

  constructor(random: Random) {
    this.random = random;
  }

  /** Sets the schemas that a `$ref` may name, and returns this object. */
  with(named: Schema): this {
    this.#named = named;
    return this;
  }

  /** A value of any type. */
  odd(): unknown {
    return this.random.pick(ODD);
  }

  /** A target that never names an app outside the fuzzer. */
  target(): string {
    return String(this.random.pick(HARMLESS.target!));
  }

  /** JSON text of a value, sometimes cut off or nested too deeply. */
  text(schema: Schema, key: string): string {
    const text = JSON.stringify(this.of(schema, key)) ?? "null";
    if (this.random.chance(0.03)) return text.slice(0, this.random.whole(0, text.length));
    return this.random.chance(0.01) ? '{"a":'.repeat(20_000) : text;
  }

  /** A value of a schema for the key `key`. */
  of(schema: Schema, key: string, depth = 0): unknown {
    const safe = HARMLESS[key];
    if (safe !== undefined) return this.random.pick(safe);
    if (depth > 0 && this.random.chance(0.08)) return this.odd();
    if (typeof schema?.$ref === "string") {
      return this.of(this.#named[schema.$ref.split("/").at(-1)!], key, depth);
    }
    const choice = schema?.anyOf ?? schema?.oneOf ??
      schema?.enum?.map((one: unknown) => ({ const: one }));
    if (choice !== undefined) return this.of(this.random.pick(choice), key, depth);
    if (schema?.const !== undefined) return schema.const;
    return this.#ofType(schema ?? {}, key, depth);
  }

  #ofType(schema: Schema, key: string, depth: number): unknown {
    const type = Array.isArray(schema.type) ? this.random.pick(schema.type) : schema.type;
    if (type === "boolean") return this.random.chance(0.5);
    if (type === "integer" || type === "number") {
      const limits = [schema.minimum, schema.maximum].filter((one) => one !== undefined);
      return this.random.pick([...NUMBERS, ...limits]);
    }
    if (type === "array") {
      const length = depth > MOST_DEPTH ? 0 : this.random.whole(0, 3);
      return Array.from({ length }, () => this.of(schema.items, key, depth + 1));
    }
    return type === "object" ? this.#object(schema, depth) : this.random.pick(TEXTS);
  }

  #object(
    { properties = {}, required = [], additionalProperties }: Schema,
    depth: number,
  ): unknown {
    const result: Record<string, unknown> = {};
    const isWanted = (key: string) =>
      this.random.chance(required.includes(key) ? 0.95 : depth > MOST_DEPTH ? 0 : 0.2);
    for (const key of Object.keys(properties).filter(isWanted)) {
      result[key] = this.of(properties[key], key, depth + 1);
    }
    if (additionalProperties && this.random.chance(0.5)) {
      result[this.random.pick(TEXTS)] = this.of(additionalProperties, "", depth + 1);
    }
    if (this.random.chance(0.05)) result[this.random.pick(TEXTS)] = this.odd();
    return result;
  }
}
