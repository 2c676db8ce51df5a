/**
 * Mistakes in configuration files: each is reported with its position, and nothing else happens.
 */

import { loadConfig } from "../../src/config/load_config.ts";
import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { ConfigProblem, ConfigProblems } from "../../src/config/problem.ts";
import { runModule } from "../../src/config/read_module.ts";
import { tempHome } from "../support/temp_home.ts";
import { Files, mistakes } from "./files.ts";

Deno.test("loadConfig() names the position, the key and a valid value in every format", async () => {
  const yaml = "processes:\n  api:\n    entrypoint: sleep\n    instnces: 2\n";
  const right = '"api": unknown key "instnces": did you mean "instances"?';
  assertEquals(await mistakes("procsup.yaml", yaml), [`4:5: ${right}`]);
  const toml = '[processes.api]\nentrypoint = "sleep"\ninstnces = 2\n';
  assertEquals(await mistakes("procsup.toml", toml), [`3:1: ${right}`]);
  const json = '{"processes": {\n  "api": {"entrypoint": "sleep",\n    "instnces": 2}}}';
  assertEquals(await mistakes("procsup.json", json), [`3:5: ${right}`]);
  const jsonc =
    '{"processes": [ // a list\n  {"name": "api", "entrypoint": "sleep", "instnces": 2,},]}';
  assertEquals(await mistakes("procsup.jsonc", jsonc), [`2:42: ${right}`]);
});

Deno.test("loadConfig() reports every unknown key of a process with its position", async () => {
  const text = "processes:\n  api:\n    command: sleep 1\n    instnces: 2\n    user: www\n" +
    "    log: { max_sise: 1 }\n";
  assertEquals(await mistakes("procsup.yaml", text), [
    '6:12: "api": unknown key "log.max_sise": did you mean "max_size"?',
    '4:5: "api": unknown key "instnces": did you mean "instances"?',
    '5:5: "api": unknown key "user": did you mean "uid"?',
  ]);
});

Deno.test("loadConfig() refuses one log file for several instances, as the daemon would", async () => {
  const text = (file: string) =>
    `processes:\n  api:\n    entrypoint: sleep\n    instances: 2\n    log: { stdout: ${file} }\n`;
  const [mistake] = await mistakes("procsup.yaml", text("/var/log/api.log"));
  assertMatch(
    mistake!,
    /^5:20: "api": invalid "log.stdout" .*: it is one file for 2 instances, put/,
  );
  assertEquals(await mistakes("procsup.yaml", text('"/var/log/api-{instance}.log"')), []);
});

Deno.test("loadConfig() marks the whole value, and shows no comment, which may hold a secret", async () => {
  const app = (name: string) => `[processes.${name}]\nentrypoint = "sleep"\n`;
  await using files = new Files({
    "a.toml": `${app("a")}instances = "many" # hunter2\n${app("b")}instances = 0\n`,
  });
  const mistakes = await assertRejects(() => files.load(["a.toml"]), ConfigProblems);
  const { text, from, length } = (mistakes.problems[0] as ConfigProblem).place!.excerpt!;
  assertEquals([text, text.slice(from, from + length)], ['instances = "many" …', '"many"']);
  assertMatch(mistakes.message, / \(and 1 more\)$/);
});

Deno.test("loadConfig() reports all mistakes of a file at once", async () => {
  const found = await mistakes(
    "procsup.yaml",
    `versoin: 1
processes:
  a: { entrypoint: sleep, instances: many }
  b: { entrypoint: sleep, env: { A: "\${NOT_SET}" } }
  c: { entrypoint: sleep, depends_on: [a] }
  d: { args: [1] }
`,
  );
  assertEquals(
    found,
    [
      '1:1: unknown key "versoin": did you mean "version"?',
      '3:38: "a": invalid "instances" "many": expected number, received string',
      "4:37: the variable NOT_SET is not set: " +
      "set it, write ${NOT_SET:-default}, or $${NOT_SET} to leave it as it is",
      '6:3: "d": missing "entrypoint": every process needs it',
    ],
  );
});

Deno.test("loadConfig() rejects syntax errors, each with its position", async () => {
  const cases: readonly (readonly [string, string, RegExp])[] = [
    ["a.yaml", "processes:\n  api: [1\n", /^\d+:\d+: not valid YAML: /],
    ["a.yaml", "processes: {}\nprocesses: {}\n", /^2:1: not valid YAML: map keys must be unique/i],
    ["a.yaml", "a: 1\n---\nb: 2\n", /^2:1: not valid YAML: a second document begins here, and/],
    ["a.yaml", "a: 1\n\tb: 2\n", /^\d+:\d+: not valid YAML: /],
    ["a.toml", "a = 1\nb = = 2\n", /^2:5: not valid TOML: /],
    ["a.json", '{\n  "a": 1,\n  "a": 2\n}', /^3:3: not valid JSON: duplicate key "a"$/],
    ["a.json", '{\n  "a": yes\n}', /^2:8: not valid JSON: text needs double quotes$/],
    ["a.json", '{"a": 1,}', /^1:9: not valid JSON: a "," at the end needs a file name in \.jsonc$/],
    ["a.json", '{"a": 1 // no\n}', /^1:9: not valid JSON: a comment needs a file name in \.jsonc$/],
    ["a.jsonc", '{"a": /* never closed', /^1:7: not valid JSON: this comment has no end$/],
    ["a.json", "", /^1:1: not valid JSON: it ends too early$/],
    ["a.json", "[".repeat(5000), /not valid JSON: nested too deeply$/],
    ["a.yaml", "processes: &a\n  x: *a\n", /^2:6: this value contains itself$/],
    ["a.yaml", "processes: &a [1, *a, *a]\n", /^1:19: this value contains itself$/],
    ["a.yaml", "a: &a\n  <<: *a\n", /nested too deeply, or an alias contains itself$/],
    ["a.yaml", `a: ${"[".repeat(100)}${"]".repeat(100)}`, /^1:68: nested more than 64 deep$/],
    ["a.yaml", `a: ${"[".repeat(50_000)}`, /not valid YAML: nested too deeply$/],
    ["a.toml", `a${".a".repeat(20_000)} = 1`, /nested more than 64 deep$/],
    ["a.yaml", "just text", /^1:1: expected a map with "processes"$/],
  ];
  for (const [name, text, expected] of cases) {
    const found = await mistakes(name, text);
    assertMatch(found[0] ?? "none", expected);
  }
});

Deno.test("loadConfig() rejects duplicate names, cycles and missing dependencies", async () => {
  assertEquals(
    await mistakes(
      "a.yaml",
      "processes:\n- {name: a, entrypoint: x}\n- {name: a, entrypoint: y}\n",
    ),
    ['3:10: duplicate name "a"'],
  );
  const cycle = "processes:\n  a: {entrypoint: x, depends_on: [b]}\n" +
    "  b: {entrypoint: x, depends_on: {a: started}}\n";
  assertMatch((await mistakes("a.yaml", cycle))[0]!, /Dependencies form a cycle: a → b → a/);
  const unknown =
    "processes:\n  apple: {entrypoint: x}\n  b: {entrypoint: x, depends_on: [aple]}\n";
  assertMatch(
    (await mistakes("a.yaml", unknown))[0]!,
    /^3:35: "b": "depends_on" names "aple", which is not in the file: did you mean "apple"\?$/,
  );
  const lines =
    "processes:\n  b:\n    entrypoint: x\n    depends_on:\n    - b1\n  b1: {entrypoint: x}\n" +
    "  c:\n    entrypoint: x\n    depends_on:\n    - b\n    - d\n";
  assertMatch((await mistakes("a.yaml", lines))[0]!, /^11:7: "c": "depends_on" names "d"/);
  const never =
    "processes:\n  a: {entrypoint: x, depends_on: {b: healthy}}\n  b: {entrypoint: x}\n";
  assertMatch(
    (await mistakes("a.yaml", never))[0]!,
    /^2:38: "a": invalid "depends_on": "b" has no health_check, so it is never healthy$/,
  );
});

Deno.test("loadConfig() rejects __proto__ in every format and leaves the prototype clean", async () => {
  const cases: readonly (readonly [string, string])[] = [
    ["a.yaml", "processes:\n  a: {entrypoint: x, env: {__proto__: {polluted: 1}}}\n"],
    ["a.yaml", "__proto__:\n  polluted: 1\n"],
    ["a.json", '{"processes": {"__proto__": {"polluted": 1}}}'],
    ["a.toml", '[processes.a.labels]\n"__proto__" = "polluted"\n'],
  ];
  for (const [name, text] of cases) {
    const found = await mistakes(name, text);
    assertMatch(found[0] ?? "none", /__proto__/);
    assertEquals(({} as Record<string, unknown>).polluted, undefined);
  }
});

Deno.test("loadConfig() rejects a YAML bomb quickly", async () => {
  const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"];
  for (let n = 1; n < 10; n++) {
    lines.push(`a${n}: &a${n} [${Array(10).fill(`*a${n - 1}`).join(", ")}]`);
  }
  const found = await mistakes("a.yaml", `${lines.join("\n")}\n`);
  assertMatch(found[0] ?? "none", /not valid YAML: .*alias/i);
});

Deno.test("loadConfig() rejects files that extend each other, and missing files", async () => {
  await using files = new Files({
    "a.yaml": "extends: b.yaml\n",
    "b.yaml": "extends: [a.yaml]\n",
    "c.yaml": "extends: nowhere.yaml\n",
    "d.yaml": "processes: {}\nextends: [other/e.yaml]\n",
    "other/e.yaml": "extends:\n- c.txt\n",
    "other/c.txt": "",
  });
  const refused = async (name: string) =>
    await files.load([name]).then(() => "none", (error) => (error as Error).message);
  assertMatch(
    await refused("a.yaml"),
    /files extend each other: .*a\.yaml → .*b\.yaml → .*a\.yaml/,
  );
  assertMatch(
    await refused("c.yaml"),
    /c\.yaml:1:10: extends "\/.*\/nowhere\.yaml": no such file$/,
  );
  assertMatch(await refused("d.yaml"), /e\.yaml:2:3: extends "\/.*\/c\.txt": not the name of a/);
});

Deno.test("runModule() kills a module that never ends, and denies it everything but reading", async () => {
  await using files = new Files({
    "loop.config.js": "export default (() => { for (;;); })();",
    "write.config.js": 'Deno.writeTextFileSync("x", ""); export default {};',
    "net.config.ts": 'await fetch("http://127.0.0.1:8099"); export default {};',
    "run.config.mjs": 'new Deno.Command("/bin/ls").outputSync(); export default {};',
    "none.config.js": "export const x = ;",
    "part.ts": "export const part = 1;\nexport const more = missing;\n",
    "whole.config.ts": 'import { part } from "./part.ts";\nexport default { part };\n',
    "big.config.ts": "export default { version: 1n };\n",
  });
  const refused = async (name: string, timeoutMs = 30_000) =>
    await runModule(`${files.folder}/${name}`, {}, timeoutMs)
      .then(() => "none", (error) => (error as Error).message);
  assertMatch(
    await refused("loop.config.js", 1500),
    /timed out: killed after 1500 ms/,
  );
  assertMatch(await refused("write.config.js"), /it failed: .*write access/);
  assertMatch(await refused("net.config.ts"), /it failed: .*net access/);
  assertMatch(await refused("run.config.mjs"), /it failed: .*run access/);
  assertMatch(await refused("none.config.js"), /none\.config\.js:1:18: it failed: /);
  assertMatch(
    await refused("whole.config.ts"),
    /part\.ts:2:21: ".*whole\.config\.ts" failed: .*missing is not/,
  );
  assertMatch(await refused("big.config.ts"), /big\.config\.ts: it failed: .*BigInt/);
});

Deno.test("loadConfig() rejects schedules that never run, each with its position", async () => {
  const found = await mistakes(
    "procsup.yaml",
    `processes:
  a: { entrypoint: sleep, cron: "60 * * * *" }
  b: { entrypoint: sleep, cron: { schedule: "0 4 * * *", timezone: Mars } }
  c: { entrypoint: sleep, cron: "0 0 30 2 *" }
  d: { entrypoint: sleep, cron_restart: "99 * * * *" }
  e: { entrypoint: sleep, cron: "0 4 * * *" }
cron:
  f: { command: sleep 1, schedule: "0 0 30 2 *" }
`,
  );
  assertEquals(found, [
    '2:33: "a": invalid "cron.schedule" "60 * * * *": invalid value for minute: 60',
    '3:68: "b": invalid "cron.timezone" "Mars": unknown timezone, expected one such as "Europe/Berlin"',
    '4:33: "c": invalid "cron.schedule" "0 0 30 2 *": this date never comes',
    '5:41: "d": invalid "cron_restart.schedule" "99 * * * *": invalid value for minute: 99',
    '8:36: "f": invalid "cron.schedule" "0 0 30 2 *": this date never comes',
  ]);
});

Deno.test("loadConfig() names every invalid value of a process", async () => {
  const found = await mistakes(
    "procsup.yaml",
    "processes:\n  a: { entrypoint: sleep, stop_signal: TERMM, umask: 999, nice: 40, " +
      'ready_log: "(", success_exit_codes: [256] }\n' +
      '  b: { entrypoint: sleep, sockets: ["nohost:99999"] }\n',
  );
  assertEquals(found.map((text) => /invalid "([\w.]+)"/.exec(text)?.[1]).sort(), [
    "nice",
    "ready_log",
    "sockets",
    "stop_signal",
    "success_exit_codes.0",
    "umask",
  ]);
});

Deno.test("loadConfig() accepts any schedule from a variable whose value is unknown", async () => {
  const text = 'processes: { a: { entrypoint: sleep, cron: "${WHEN}", sockets: ["${AT}:80"] } }';
  const content = { file: "/srv/procsup.yaml", text };
  const { processes } = await loadConfig({
    ...{ files: [content.file], content, env: {}, assumeVariables: true },
  });
  assertEquals(processes.map(({ config }) => config.name), ["a"]);
});

Deno.test("loadConfig() refuses more values than a daemon reads in a moment, before it parses them", async () => {
  await using folder = tempHome();
  const keys = (count: number, line: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => line(index)).join("");
  const texts = [
    `processes:\n${keys(30_000, (i) => `  k${i}: 1\n`)}`,
    `x: {${keys(30_000, (i) => `k${i}: 1,`)}}\n`,
    `x:\n${keys(30_000, (i) => `  - ${i}\n`)}`,
  ];
  for (const text of texts) {
    const file = `${folder.path}/procsup.yaml`;
    const load = loadConfig({ files: [file], content: { file, text }, env: {} });
    await assertRejects(() => load, Error, "more than 20000 values");
  }
});

Deno.test("loadConfig() ends a module that prints without an end", async () => {
  await using folder = tempHome();
  const file = `${folder.path}/procsup.config.ts`;
  Deno.writeTextFileSync(file, 'const text = "x".repeat(2 ** 20);\nfor (;;) console.log(text);\n');
  await assertRejects(() => loadConfig({ files: [file], env: {} }), Error, "printed more than");
});
