/** The contexts file. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { cliIn } from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";
import { runCommandLine } from "./fake_daemon.ts";

Deno.test("an invalid contexts file is rejected with the name of the invalid part", async () => {
  await using temp = tempHome();
  const env = { HOME: temp.path, XDG_CONFIG_HOME: temp.path };
  Deno.mkdirSync(`${temp.path}/procsup`, { mode: 0o700 });
  const wrong: Record<string, string> = {
    "{": "is not valid JSON",
    '{"contexts": {"web1": "user@server"}}': 'has no host and no engine for "web1"',
    '{"contexts": {"web1": null}}': 'has no host and no engine for "web1"',
    '{"contexts": {"web1": {"on": 5}}}': 'has no host and no engine for "web1"',
    '{"contexts": {"web1": {"destination": "a", "home": 5}}}': 'has no text as "home" of "web1"',
  };
  for (const [text, problem] of Object.entries(wrong)) {
    Deno.writeTextFileSync(`${temp.path}/procsup/contexts.json`, text, { mode: 0o600 });
    const { code, stderr } = await cliIn("", env, "context", "list");
    assertEquals(code, 2, stderr);
    assertStringIncludes(stderr, problem);
  }
  Deno.writeTextFileSync(`${temp.path}/procsup/contexts.json`, "null");
  assertEquals((await cliIn("", env, "context", "list", "-o", "name")).stdout, "local\n");
});

Deno.test("hints for another machine name it as ssh does, and for an engine there are none", async () => {
  await using temp = tempHome();
  const env = { HOME: temp.path, XDG_CONFIG_HOME: temp.path };
  Deno.mkdirSync(`${temp.path}/procsup`, { mode: 0o700 });
  const contexts = { web1: { destination: "deploy@web1.example.com" }, prod: { on: "swarm" } };
  const file = `${temp.path}/procsup/contexts.json`;
  Deno.writeTextFileSync(file, JSON.stringify({ contexts }), { mode: 0o600 });
  const hints: Record<string, string | undefined> = {
    "--host web1 serve": "ssh deploy@web1.example.com procsup serve",
    "--host web1 config validate": "ssh deploy@web1.example.com procsup config …",
    "--host prod serve": undefined,
  };
  for (const [line, hint] of Object.entries(hints)) {
    const { code, stderr } = await cliIn("", env, ...line.split(" "));
    assertEquals([code, /hint: Run it there: (.*)/.exec(stderr)?.[1]], [2, hint], stderr);
  }
});

Deno.test("context refuses flags of engines that it would ignore", async () => {
  const refusals: Record<string, string> = {
    "use web1 --stack shop": '--stack with "context use"',
    "list --on swarm": '--on with "context list"',
    "add web1 server --cluster-namespace a": '--cluster-namespace with "context add <name> <host>"',
    "add prod --on swarm --cluster-namespace a": "--cluster-namespace for swarm",
  };
  for (const [line, refusal] of Object.entries(refusals)) {
    const { code, stderr } = await runCommandLine(["context", ...line.split(" ")]);
    assertEquals([code, stderr.split("\n")[0]], [2, `error: Cannot use ${refusal}`]);
  }
});

Deno.test("a verb refuses words that it would ignore", async () => {
  const lines = [
    ...["context use web1 web2", "context remove web1 web2", "context list web1"],
    ...["token list grafana", "webhook list ops", "config schema procsup.yaml"],
  ];
  for (const line of lines) {
    const { code, stderr } = await runCommandLine(line.split(" "));
    const [, verb, last] = /^(\w+ \w+).* (\S+)$/.exec(line)!;
    assertEquals([code, stderr.split("\n")[0]], [
      2,
      `error: Unexpected word "${last}" after "${verb}"`,
    ]);
  }
});
