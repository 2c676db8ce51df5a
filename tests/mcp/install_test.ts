import { fromFileUrl } from "@std/path";
import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { candidates } from "../../src/cli/commands/completion.ts";
import { COMMANDS } from "../../src/cli/command_table.ts";
import { clearedFile, mcpClient, mergedFile, ownEntry } from "../../src/mcp/client_config.ts";
import { ProcsupError } from "../../src/model/errors.ts";
import { parseToolNames } from "../../src/mcp/tool_names.ts";
import { denoDir, programWords } from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";

const COMMAND = { command: "/bin/procsup", args: ["mcp"] };

Deno.test("mergedFile keeps all existing content when it adds our entry", () => {
  const cursor = mcpClient("cursor");
  const existing = JSON.stringify({ theme: "dark", mcpServers: { other: { command: "x" } } });
  const merged = mergedFile(cursor, COMMAND, existing)!.text;
  assertEquals(JSON.parse(merged), {
    theme: "dark",
    mcpServers: {
      other: { command: "x" },
      procsup: { type: "stdio", command: "/bin/procsup", args: ["mcp"] },
    },
  });
  assertEquals(mergedFile(cursor, COMMAND, merged), undefined);
  assertEquals(JSON.parse(mergedFile(cursor, COMMAND, undefined)!.text), ownEntry(cursor, COMMAND));
  assertEquals(Object.keys(ownEntry(mcpClient("vscode"), COMMAND)), ["servers"]);
});

Deno.test("mergedFile keeps a user's comments, and their additions to our entry", () => {
  const vscode = mcpClient("vscode");
  const existing = '\ufeff{\n  // mine\n  "servers": {\n' +
    '    "procsup": { "command": "old", "env": { "A": "b" } }, // ours\n  },\n}\n';
  const { text: merged, before } = mergedFile(vscode, COMMAND, existing)!;
  assertEquals(before, "old");
  assert(merged.startsWith("\ufeff{\n  // mine\n") && merged.endsWith("}, // ours\n  },\n}\n"));
  assertStringIncludes(merged, '"A": "b"');
  assertStringIncludes(merged, '"command": "/bin/procsup"');
  assertEquals(mergedFile(vscode, COMMAND, merged), undefined);
  const cleared = clearedFile(vscode, merged)!;
  assert(!cleared.includes("procsup") && cleared.includes("// mine"), cleared);
  assertEquals([clearedFile(vscode, cleared), clearedFile(vscode, undefined)], [
    undefined,
    undefined,
  ]);
});

Deno.test("mergedFile rejects a file that it cannot parse completely, and an entry of another kind", () => {
  const vscode = mcpClient("vscode");
  for (const text of ["[]", '{"servers": 5}', "{"]) {
    assertThrows(() => mergedFile(vscode, COMMAND, text), Error, "Cannot edit");
    assertThrows(() => clearedFile(vscode, text === "[]" ? text : "{"), Error, "Cannot edit");
  }
  const remote = '{"servers": {"procsup": {"url": "http://x/mcp"}}}';
  assertThrows(() => mergedFile(vscode, COMMAND, remote), Error, 'at "http://x/mcp"');
  assertThrows(() => mcpClient("cursr"), Error, 'did you mean "cursor"');
  assertThrows(() => parseToolNames("list_apps,get_log"), Error, 'did you mean "get_logs"');
  assertEquals(parseToolNames(" list_apps, ,get_logs"), ["list_apps", "get_logs"]);
});

Deno.test("procsup mcp install writes the client's file, through a link and with its mode", async () => {
  await using user = tempHome();
  await Deno.mkdir(`${user.path}/dotfiles`);
  await Deno.writeTextFile(`${user.path}/dotfiles/claude.json`, '{"kept": 1}', { mode: 0o640 });
  await Deno.symlink(`${user.path}/dotfiles/claude.json`, `${user.path}/.claude.json`);
  const run = (...args: string[]) => runIn(user.path, ["mcp", "install", ...args]);

  const printed = await run("claude", "--print", "--read-only");
  const { command, args } = JSON.parse(printed.stdout).mcpServers.procsup;
  assertEquals(command, programWords()[0]);
  assertEquals(args.slice(-2), ["mcp", "--read-only"]);
  assertEquals(JSON.parse(await Deno.readTextFile(`${user.path}/.claude.json`)), { kept: 1 });

  assertEquals((await run("claude")).code, 0);
  const file = JSON.parse(await Deno.readTextFile(`${user.path}/dotfiles/claude.json`));
  assertEquals([file.kept, file.mcpServers.procsup.type], [1, "stdio"]);
  assert(Deno.lstatSync(`${user.path}/.claude.json`).isSymlink);
  assertEquals(Deno.statSync(`${user.path}/dotfiles/claude.json`).mode! & 0o777, 0o640);
  assertStringIncludes((await run("claude")).stdout, "already");

  const remove = () => runIn(user.path, ["mcp", "uninstall", "claude"]);
  assertStringIncludes((await remove()).stdout, "no longer");
  assertEquals(JSON.parse(await Deno.readTextFile(`${user.path}/.claude.json`)), {
    kept: 1,
    mcpServers: {},
  });
  assertStringIncludes((await remove()).stdout, "does not have");
  const elsewhere = { CLAUDE_CONFIG_DIR: `${user.path}/claude` };
  assertEquals(
    (await runIn(user.path, ["mcp", "install", "claude"], programWords(), elsewhere)).code,
    0,
  );
  assertStringIncludes(await Deno.readTextFile(`${user.path}/claude/.claude.json`), '"procsup"');

  const other = await runIn(user.path, ["--home", "/tmp/other", "mcp", "install", "cursor"]);
  assertEquals(other.code, 0);
  const cursor = JSON.parse(await Deno.readTextFile(`${user.path}/.cursor/mcp.json`));
  assertEquals(cursor.mcpServers.procsup.args.slice(-3), ["mcp", "--home", "/tmp/other"]);
  assertEquals((await run("emacs")).code, 2);
  const misspelled = await runIn(user.path, ["mcp", "instal", "cursor"]);
  assertEquals(misspelled.code, 2);
  assertStringIncludes(misspelled.stderr, 'Did you mean "procsup mcp install"?');
  assertStringIncludes((await run()).stderr, 'Too few words for "mcp install"');
});

Deno.test("completion offers every client that procsup mcp install supports", async () => {
  const source = { commands: COMMANDS, names: () => Promise.resolve([]) };
  const offered = (await candidates(["mcp", "install", ""], source)).map(({ word }) => word);
  const { hint } = assertThrows(() => mcpClient("-"), ProcsupError);
  assertEquals(hint?.text, `Expected one of ${offered.join(", ")}`);
});

Deno.test("procsup mcp install names the portable executable, not its unpacked files", async () => {
  await using folder = tempHome();
  const root = fromFileUrl(import.meta.resolve("../../"));
  // As the shell part of the executable starts the bundle.
  const entry = `${folder.path}/portable_entry.js`;
  await Deno.writeTextFile(
    entry,
    `import { runCli } from "${
      import.meta.resolve("../../src/cli/cli.ts")
    }"; Deno.exit(await runCli(Deno.args));`,
  );
  const words = [Deno.execPath(), "run", "-A", "--config", `${root}deno.json`, entry];
  const env = { PROCSUP_EXECUTABLE: "/opt/bin/procsup" };
  const { stdout } = await runIn(folder.path, ["mcp", "install", "vscode", "--print"], words, env);
  assertEquals(JSON.parse(stdout).servers.procsup, {
    type: "stdio",
    command: "/opt/bin/procsup",
    args: ["mcp"],
  });
});

async function runIn(home: string, args: string[], program = programWords(), env = {}) {
  const [command, ...words] = program;
  const { code, stdout, stderr } = await new Deno.Command(command!, {
    args: [...words, ...args],
    clearEnv: true,
    env: {
      ...env,
      HOME: home,
      PATH: Deno.env.get("PATH")!,
      DENO_DIR: denoDir(),
    },
    stdin: "null",
  }).output();
  const [out, error] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  return { code, stdout: out!, stderr: error! };
}
