import { fromFileUrl } from "@std/path";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { isInstalled } from "../support/installed.ts";
import { denoDir, programLine, TestDaemon } from "../support/procsup.ts";
import { type TempHome, tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";

const daemon = TestDaemon.ofFile();

/** A folder with a `procsup` program, because a shell completes a command by its name. */
function programFolder(): TempHome {
  const temp = tempHome();
  const words = programLine();
  Deno.writeTextFileSync(`${temp.path}/procsup`, `#!/bin/sh\nexec ${words} "$@"\n`);
  Deno.chmodSync(`${temp.path}/procsup`, 0o755);
  return temp;
}

async function shell(program: string, script: string, home: string, folder: string) {
  const { stdout, stderr } = await new Deno.Command(program, {
    args: program === "bash" ? ["--norc", "-c", script] : ["-c", script],
    env: {
      ...{ PROCSUP_HOME: home, HOME: folder, DENO_DIR: denoDir() },
      PATH: `${folder}:${Deno.env.get("PATH")}`,
    },
    stdin: "null",
  }).output();
  const text = new TextDecoder();
  return { lines: text.decode(stdout).split("\n").filter(Boolean), stderr: text.decode(stderr) };
}

/** What bash would insert. */
const bash = (line: string) =>
  `source <(procsup completion bash); COMP_LINE='${line}'; COMP_POINT=\${#COMP_LINE}; ` +
  `_procsup; printf '%s\\n' "\${COMPREPLY[@]}"`;

const TYPE_IN_ZSH = fromFileUrl(import.meta.resolve("../fixtures/completion.zsh"));

/** What an interactive zsh displays and inserts after a tab. */
async function zsh(lines: readonly string[], home: string, folder: string) {
  const words = lines.map((line) => `'${line}'`).join(" ");
  const shown = await shell("zsh", `zsh -f ${TYPE_IN_ZSH} ${words}`, home, folder);
  const text = shown.lines.join("\n");
  // deno-lint-ignore no-control-regex
  const plain = text.replace(/\x1b\[[0-9;?]*[a-zA-Z]/g, "");
  return { plain, became: shown.lines.filter((line) => line.startsWith("=== ")) };
}

const fish = (line: string) => `procsup completion fish | source; complete -C '${line}'`;

Deno.test({
  name: "completion in bash knows commands, flags and names of running processes",
  ignore: !isInstalled("bash"),
}, async () => {
  await using folder = programFolder();
  await daemon.startScript("api", "sleep 100", { instances: 2 });
  const complete = async (line: string) =>
    (await shell("bash", bash(line), daemon.home, folder.path)).lines;
  assertEquals(await complete("procsup stat"), ["status"]);
  assertEquals((await complete("procsup stop ")).sort(), ["all", "api", "api:0", "api:1"]);
  assertEquals(await complete("procsup stop api:1"), ["1"]);
  assertEquals(await complete("procsup wait api --for "), ["running", "ready", "stopped", "exit"]);
  assert((await complete("procsup start --")).includes("--max-restarts"));
  assertEquals(await complete("procsup list --output=y"), ["yaml"]);

  await using home = tempHome();
  for (
    const flag of [`--home ${daemon.home}`, `--home=${daemon.home}`, `--home "${daemon.home}"`]
  ) {
    const { lines } = await shell(
      "bash",
      bash(`procsup ${flag} stop api:`),
      home.path,
      folder.path,
    );
    assertEquals(lines.sort(), ["0", "1"]);
  }
});

Deno.test({
  name: "completion in an interactive zsh completes commands, flags, process names and files",
  ignore: !isInstalled("zsh"),
}, async () => {
  await using folder = programFolder();
  await using home = tempHome();
  await daemon.startScript("api", "sleep 100", { instances: 2 });
  await daemon.startScript("worker", "sleep 100");
  const lines = [
    "procsup restar",
    "procsup cron his",
    "procsup list --output=js",
    "procsup list -o ",
    `procsup stop --home ${daemon.home} wor`,
    `procsup --home=${daemon.home} stop api:`,
    `procsup config validate ${folder.path}/proc`,
  ];
  let plain = "";
  // Completion waits only briefly for names, which may be too short on a busy machine.
  await waitFor(async () => {
    const shown = await zsh(lines, home.path, folder.path);
    plain = shown.plain;
    assertEquals(shown.became, [
      "=== procsup restart ",
      "=== procsup cron history ",
      "=== procsup list --output=json",
      "=== procsup list -o ",
      `=== procsup stop --home ${daemon.home} worker `,
      `=== procsup --home=${daemon.home} stop api:`,
      `=== procsup config validate ${folder.path}/procsup `,
    ], plain);
    return true;
  }, { what: "every line to be completed" });
  assertMatch(plain, /^json +jsonl +name +pid +table +wide +yaml/m);
  assertMatch(plain, /^api:[01] +api:[01] +-- running/m);
});

Deno.test(
  { name: "completion in fish knows process names", ignore: !isInstalled("fish") },
  async () => {
    await using folder = programFolder();
    await daemon.startScript("api", "sleep 100");
    await using home = tempHome();
    for (const flag of [`--home ${daemon.home}`, `--home=${daemon.home}`]) {
      const line = fish(`procsup stop ${flag} a`);
      const { lines, stderr } = await shell("fish", line, home.path, folder.path);
      assert(lines.includes("api\trunning"), stderr + lines.join("\n"));
    }
    const { lines } = await shell("fish", fish("procsup list -o y"), home.path, folder.path);
    assertEquals(lines, ["yaml"]);
  },
);

Deno.test("__complete starts no daemon and prints nothing without one", async () => {
  await using home = tempHome();
  await using folder = programFolder();
  const { lines, stderr } = await shell("bash", bash("procsup stop "), home.path, folder.path);
  assertEquals(lines, []);
  assertEquals(stderr, "");
  assertEquals([...Deno.readDirSync(home.path)], []);
});

Deno.test(
  { name: "man prints a page that mandoc accepts", ignore: !isInstalled("mandoc") },
  async () => {
    await using home = tempHome();
    await using folder = programFolder();
    const script =
      "procsup help --man | mandoc -T lint -W error; procsup help --man | mandoc | head -5";
    const { lines } = await shell("bash", script, home.path, folder.path);
    assertStringIncludes(lines.join("\n"), "PROCSUP(1)");
    assert(!lines.some((line) => line.includes("ERROR")), lines.join("\n"));
  },
);
