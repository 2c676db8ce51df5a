import { assertEquals } from "@std/assert";
import { COMMANDS } from "../../src/cli/command_table.ts";
import { candidates, typedHome } from "../../src/cli/commands/completion.ts";
import { ENGINES } from "../../src/export/engines.ts";
import { FakeDaemon, fakeProcess } from "./fake_daemon.ts";

Deno.test("typedHome() returns the last complete --home", () => {
  assertEquals(typedHome(["stop", "--home", "/a"], "/me"), "/a");
  assertEquals(typedHome(["--home=/a", "stop", "--home", "/b"], "/me"), "/b");
  assertEquals(typedHome(["stop", "--home"], "/me"), undefined);
  assertEquals(typedHome(["stop", "api"], "/me"), undefined);
});

Deno.test("typedHome() reads quotes, backslashes and ~ as the shell would", () => {
  assertEquals(typedHome(["--home", "~/x"], "/me"), "/me/x");
  assertEquals(typedHome(["--home=~"], "/me"), "/me");
  assertEquals(typedHome(["--home", '"~/x"'], "/me"), "~/x");
  assertEquals(typedHome(["--home", "/a\\ b"], "/me"), "/a b");
});

Deno.test("completion does not offer the apps here for a command that goes elsewhere", async () => {
  await using daemon = new FakeDaemon({ list: () => [fakeProcess()] });
  const offered = async (...words: string[]) =>
    (await daemon.run("__complete", "--", ...words, "")).stdout;
  assertEquals(await offered("stop"), "api\trunning\nall\tevery app\n");
  for (const words of [["--host", "web1", "stop"], ["--host=web1", "stop"]]) {
    assertEquals(await offered(...words), "", words.join(" "));
  }
});

Deno.test("completion counts words as the command does: an alias stands for some, a flag is none", async () => {
  const source = { commands: COMMANDS, names: () => Promise.resolve([]) };
  const offered = async (...words: string[]) =>
    (await candidates([...words, ""], source)).map(({ word }) => word);
  assertEquals(await offered("validate"), [":files"]);
  assertEquals(await offered("config", "--only", "a", "--prune"), await offered("config"));
  assertEquals(await offered("-q", "cron", "--json"), await offered("cron"));
  assertEquals(await offered("unstartup"), []);
});

Deno.test("completion offers the flags of engines after --on only", async () => {
  const source = { commands: COMMANDS, names: () => Promise.resolve([]) };
  const offered = async (...words: string[]) =>
    (await candidates([...words, "--"], source)).map(({ word }) => word);
  const here = await offered("logs");
  assertEquals([here.includes("--stack"), here.includes("--follow")], [false, true]);
  for (const words of [["logs", "--on", "swarm"], ["logs", "--on=swarm"]]) {
    assertEquals((await offered(...words)).includes("--stack"), true, words.join(" "));
  }
  assertEquals((await offered("start")).includes("--ready-log"), true);
});

Deno.test("completion offers the engines of export, then files, and folders to serve", async () => {
  const source = { commands: COMMANDS, names: () => Promise.resolve([]) };
  const offered = async (...words: string[]) =>
    (await candidates([...words, ""], source)).map(({ word }) => word);
  assertEquals(await offered("export"), [...ENGINES, "dockerfile"]);
  assertEquals(await offered("export", "swarm"), [":files"]);
  assertEquals(await offered("serve"), [":files"]);
});

Deno.test("completion offers apps to release, with or without a verb, and files to import", async () => {
  const source = { commands: COMMANDS, names: () => Promise.resolve([{ word: "api", about: "" }]) };
  const offered = async (...words: string[]) =>
    (await candidates([...words, ""], source)).map(({ word }) => word);
  assertEquals(await offered("release"), ["list", "undo", "api"]);
  assertEquals(await offered("release", "list"), ["api"]);
  assertEquals((await offered("import")).at(-1), ":files");
  assertEquals(await offered("web"), ["start", "stop", "status", "open"]);
});
