import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { programWords, TestDaemon } from "../support/procsup.ts";
import { type TempHome, tempHome } from "../support/temp_home.ts";

/** A folder with a `procsup` in it, since a shell completes a command by its name. */
function programFolder(): TempHome {
  const temp = tempHome();
  const words = programWords().map((word) => `'${word}'`).join(" ");
  Deno.writeTextFileSync(`${temp.path}/procsup`, `#!/bin/sh\nexec ${words} "$@"\n`);
  Deno.chmodSync(`${temp.path}/procsup`, 0o755);
  return temp;
}

async function shell(program: string, script: string, home: string, folder: string) {
  const { stdout, stderr } = await new Deno.Command(program, {
    args: program === "bash" ? ["--norc", "-c", script] : ["-c", script],
    env: { PROCSUP_HOME: home, PATH: `${folder}:${Deno.env.get("PATH")}`, HOME: folder },
    stdin: "null",
  }).output();
  const text = new TextDecoder();
  return { lines: text.decode(stdout).split("\n").filter(Boolean), stderr: text.decode(stderr) };
}

function missing(program: string): boolean {
  const folders = (Deno.env.get("PATH") ?? "").split(":");
  return !folders.some((folder) => {
    try {
      return Deno.statSync(`${folder}/${program}`).isFile;
    } catch {
      return false;
    }
  });
}

/** What bash would put on the line. */
const bash = (line: string) =>
  `source <(procsup completion bash); COMP_LINE='${line}'; COMP_POINT=\${#COMP_LINE}; ` +
  `_procsup; printf '%s\\n' "\${COMPREPLY[@]}"`;

/** zsh's own functions are replaced by ones that print: they work in its line editor only. */
const zsh = (line: string) =>
  `compdef() { }; _files() { print FILES }; _describe() { print -rl "\${(@P)4}" }; ` +
  `source <(procsup completion zsh); words=(${line} ''); CURRENT=$#words; _procsup`;

const fish = (line: string) => `procsup completion fish | source; complete -C '${line}'`;

Deno.test({
  name: "completion in bash knows commands, flags and live names",
  ignore: missing("bash"),
}, async () => {
  await using folder = programFolder();
  await using daemon = await TestDaemon.start();
  await daemon.startScript("api", "sleep 100", { instances: 2 });
  const complete = async (line: string) =>
    (await shell("bash", bash(line), daemon.home, folder.path)).lines;
  assertEquals(await complete("procsup stat"), ["status"]);
  assertEquals((await complete("procsup stop ")).sort(), ["all", "api", "api:0", "api:1"]);
  assertEquals(await complete("procsup stop api:1"), ["1"]);
  assertEquals(await complete("procsup wait api --for "), ["running", "ready", "stopped", "exit"]);
  assert((await complete("procsup start --")).includes("--max-restarts"));
});

Deno.test({ name: "completion in zsh knows live names", ignore: missing("zsh") }, async () => {
  await using folder = programFolder();
  await using daemon = await TestDaemon.start();
  await daemon.startScript("api", "sleep 100", { instances: 2 });
  const { lines, stderr } = await shell("zsh", zsh("procsup stop"), daemon.home, folder.path);
  assert(lines.some((line) => line.startsWith("api\\:0:running")), stderr + lines.join("\n"));
  const commands = await shell("zsh", zsh("procsup"), daemon.home, folder.path);
  assert(commands.lines.includes("stop:Stop apps and all they started"), commands.lines.join("\n"));
});

Deno.test({ name: "completion in fish knows live names", ignore: missing("fish") }, async () => {
  await using folder = programFolder();
  await using daemon = await TestDaemon.start();
  await daemon.startScript("api", "sleep 100");
  const { lines, stderr } = await shell("fish", fish("procsup stop "), daemon.home, folder.path);
  assert(lines.includes("api\trunning"), stderr + lines.join("\n"));
});

Deno.test("__complete starts no daemon and says nothing without one", async () => {
  await using home = tempHome();
  await using folder = programFolder();
  const { lines, stderr } = await shell("bash", bash("procsup stop "), home.path, folder.path);
  assertEquals(lines, []);
  assertEquals(stderr, "");
  assertEquals([...Deno.readDirSync(home.path)], []);
});

Deno.test(
  { name: "man prints a page that mandoc accepts", ignore: missing("mandoc") },
  async () => {
    await using home = tempHome();
    await using folder = programFolder();
    const script = "procsup man | mandoc -T lint -W error; procsup man | mandoc | head -5";
    const { lines } = await shell("bash", script, home.path, folder.path);
    assertStringIncludes(lines.join("\n"), "PROCSUP(1)");
    assert(!lines.some((line) => line.includes("ERROR")), lines.join("\n"));
  },
);
