/** Mistakes as the command line shows them: without values that may be secret. */

import { assert, assertEquals } from "@std/assert";
import { problemText } from "../../src/cli/report_error.ts";
import { loadConfig } from "../../src/config/load_config.ts";
import { ConfigProblem, ConfigProblems } from "../../src/config/problem.ts";
import { tempHome } from "../support/temp_home.ts";

const SECRET = "s3cr3t-value";

const API = "processes:\n  api:\n    entrypoint: sleep\n";

const CASES: readonly (readonly [name: string, text: string])[] = [
  ["a.yaml", `${API}    env:\n      A: "${SECRET}\\0"\n`],
  ["a.yaml", `${API}    enviroment: { A: ${SECRET} }\n`],
  ["a.yaml", `processes:\n  api: { entrypoint: sleep, env: { A: ${SECRET} }, instnces: 2 }\n`],
  ["a.yaml", `processes:\n  api: { env: { A: ${SECRET} }, entrypoint: sleep, nice: often }\n`],
  ["a.yaml", `${API}    env: [${SECRET}]\n`],
  ["a.yaml", `${API}    env: ${SECRET}\n`],
  ["a.yaml", `${API}    env:\n      A: "\${${SECRET} x}"\n`],
  ["a.yaml", `${API}    secrets: { A: ${SECRET} }\n`],
  ["a.yaml", `processes:\n  api: [{ env: { A: ${SECRET} } }]\n`],
  ["a.yaml", `processes: {}\nwebhooks:\n  a: { url: "ftp://x/${SECRET}" }\n`],
  ["a.yaml", `processes: {}\nwebhooks:\n  a: { url: "https://x/", secret: ${SECRET} }\n`],
  // Unreadable text, in which any value may be secret.
  ["a.yaml", `${API}    env:\n      A: *${SECRET}\n`],
  ["a.yaml", `${API}    env:\n      A: "\\q${SECRET}"\n`],
  ["a.yaml", `${API}    env:\n      A: "a" ${SECRET}\n`],
  ["a.yaml", `${API}    env:\n      A: |${SECRET}\n`],
  ["a.yaml", `${API}    env:\n\tA: ${SECRET}\n`],
  ["a.yaml", `${API}    env:\n      A: "${SECRET}\n      B: 1\n`],
  ["a.toml", `[processes.api]\nentrypoint = "sleep"\nenv = { A = "${SECRET}\\u0000" }\n`],
  ["a.toml", `[processes.api.env]\nA = ${SECRET}\n`],
  ["a.toml", `[processes.api.env]\nA = "${SECRET}" x\n`],
  ["a.json", `{"processes":{"api":{"entrypoint":"sleep","env":{"A":"${SECRET}\\u0000"}}}}`],
  ["a.json", `{"processes":{"api":{"entrypoint":"sleep","env":{"A":"${SECRET}"},"x":1}}}`],
  ["a.json", `{"processes":{"api":{"env":{"A":${SECRET}}}}}`],
  ["a.json", `{"processes":{"api":{"env":{"A":"${SECRET}}}}}`],
  ["Procfile", `web: sleep 1\nA=${SECRET} sleep 1\n`],
  ["supervisord.conf", `[program:a]\ncommand=sleep 1\n${SECRET}\n`],
];

async function shown(name: string, text: string): Promise<string> {
  await using home = tempHome();
  const file = `${home.path}/${name}`;
  Deno.writeTextFileSync(file, text);
  try {
    await loadConfig({ files: [file], env: {} });
  } catch (error) {
    const problems = error instanceof ConfigProblems ? error.problems : [error as ConfigProblem];
    return problems.map((problem) => problemText(problem, home.path)).join("\n");
  }
  throw new Error(`nothing is wrong with ${text}`);
}

Deno.test("problemText() shows no value that may be secret", async () => {
  for (const [name, text] of CASES) {
    const told = await shown(name, text);
    assert(!told.includes(SECRET), told);
    assert(told.startsWith(`${name}:`), told);
  }
});

Deno.test("problemText() shows the key, and a value that cannot be secret", async () => {
  assertEquals(
    await shown("a.yaml", `${API}    env: { A: ${SECRET} }\n    nice: often # ${SECRET}\n`),
    [
      'a.yaml:5:11 "api": invalid "nice" "often": expected number, received string',
      "    5 |     nice: often …",
      "      |           ^^^^^",
    ].join("\n"),
  );
  const flow = `{"processes": {"api": {"env": {"A": "${SECRET}"}, "instnces": 2}}}`;
  assertEquals(
    await shown("a.json", flow),
    [
      'a.json:1:54 "api": unknown key "instnces": did you mean "instances"?',
      '    1 | … "instnces" …',
      "      |   ^^^^^^^^^^",
    ].join("\n"),
  );
});
