/** Command lines: plain programs, given runtimes, interpreters, and errors. */

import { assert, assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import { ProcsupError } from "../../src/model/errors.ts";
import { commandLine } from "../../src/runtimes/command_line.ts";
import { type CommandConfig, findExecutable } from "../../src/runtimes/programs.ts";
import { Sandbox } from "./sandbox.ts";

function refusal(box: Sandbox, config: CommandConfig): ProcsupError {
  const error = assertThrows(() => commandLine(config, { path: box.bin }), ProcsupError);
  assertEquals(error.code, "invalid_config");
  assert(error.message.startsWith('Cannot start "api": '), error.message);
  return error;
}

function shortLine(box: Sandbox, entrypoint: string, more?: Partial<CommandConfig>): string {
  const { argv, runtime } = commandLine(box.config(entrypoint, more), { path: box.bin });
  return `${runtime}: ${box.short(argv)}`;
}

Deno.test("commandLine() runs an executable file directly", () => {
  using box = new Sandbox().program("server").files("package.json");
  assertEquals(shortLine(box, "./server", { args: ["-p", "80"] }), "auto: app/server -p 80");
  assertEquals(shortLine(box, `${box.cwd}/server`), "auto: app/server");
  assertEquals(shortLine(box, "server"), "auto: app/server");
});

Deno.test("commandLine() looks a bare word up on PATH", () => {
  using box = new Sandbox().installed(["python3"]);
  assertEquals(
    shortLine(box, "python3", { args: ["-m", "http.server"] }),
    "auto: bin/python3 -m http.server",
  );
});

Deno.test("commandLine() prefers a file in cwd to a command, but only if it can run", () => {
  using box = new Sandbox().installed(["server", "tool", "data"]).program("server");
  box.files("tool/x", "data");
  assertEquals(shortLine(box, "server"), "auto: app/server");
  assertEquals(shortLine(box, "tool"), "auto: bin/tool");
  assertEquals(shortLine(box, "data"), "auto: bin/data");
});

Deno.test("commandLine() uses the given runtime whatever the file is called", () => {
  using box = new Sandbox().files("main.txt", "main.go", "deno.json").program("built");
  box.installed(["go", "python3", "node", "bun", "deno", "ruby", "php"]);
  const line = (runtime: CommandConfig["runtime"]) => shortLine(box, "main.txt", { runtime });
  assertEquals(line("python"), "python: bin/python3 app/main.txt");
  assertEquals(line("node"), "node: bin/node app/main.txt");
  assertEquals(line("bun"), "bun: bin/bun run app/main.txt");
  assertEquals(line("deno"), "deno: bin/deno run -A app/main.txt");
  assertEquals(line("ruby"), "ruby: bin/ruby app/main.txt");
  assertEquals(line("php"), "php: bin/php app/main.txt");
  assertEquals(shortLine(box, "main.go", { runtime: "go" }), "go: bin/go run app/main.go");
  assertEquals(shortLine(box, "built", { runtime: "go" }), "go: app/built");
  assertEquals(shortLine(box, ".", { runtime: "go" }), "go: bin/go run .");
});

Deno.test("commandLine() runs main.go as its whole package", () => {
  using box = new Sandbox().installed(["go"]);
  box.files("one/main.go", "one/main_test.go", "many/main.go", "many/util.go");
  const line = (file: string, cwd = box.cwd) => shortLine(box, file, { cwd });
  // Without a module, go accepts only files.
  assertEquals(line("many/main.go"), "go: bin/go run app/many/main.go");
  box.files("go.mod", "main.go", "util.go", "own/go.mod", "own/main.go", "own/util.go");
  assertEquals(line("main.go"), "go: bin/go run .");
  assertEquals(line("many/main.go"), "go: bin/go run app/many");
  assertEquals(line(`${box.cwd}/many/main.go`, `${box.cwd}/many`), "go: bin/go run .");
  assertEquals(line("one/main.go"), "go: bin/go run app/one/main.go");
  assertEquals(line("util.go"), "go: bin/go run app/util.go");
  // Another module: go cannot run its packages from here.
  assertEquals(line("own/main.go"), "go: bin/go run app/own/main.go");
});

Deno.test("commandLine() runs a command that belongs to the given runtime directly", () => {
  using box = new Sandbox().installed(["npm"]);
  assertEquals(shortLine(box, "npm", { runtime: "node", args: ["start"] }), "node: bin/npm start");
});

Deno.test("commandLine() gives the interpreter precedence over runtime and extension", () => {
  using box = new Sandbox().files("app.py", "notes").installed(["pypy", "bash"]).program(
    "venv/bin/python3.12",
  );
  assertEquals(
    shortLine(box, "app.py", { interpreter: "pypy", runtime: "node", args: ["-v"] }),
    "node: bin/pypy app/app.py -v",
  );
  assertEquals(
    shortLine(box, "app.py", { interpreter: "./venv/bin/python3.12" }),
    "python: app/venv/bin/python3.12 app/app.py",
  );
  assertEquals(shortLine(box, "notes", { interpreter: "bash" }), "auto: bin/bash app/notes");
});

Deno.test("commandLine() rejects a cwd that is missing or not a directory", () => {
  using box = new Sandbox().files("file");
  const gone = refusal(box, box.config("sh", { cwd: "/nowhere/at/all" }));
  assertEquals(gone.message, 'Cannot start "api": cwd "/nowhere/at/all" does not exist');
  const file = refusal(box, box.config("sh", { cwd: `${box.cwd}/file` }));
  assertStringIncludes(file.message, 'file" is not a directory');
});

Deno.test("commandLine() rejects an entrypoint that does not exist", () => {
  using box = new Sandbox();
  const absolute = refusal(box, box.config("/srv/gone/api.ts"));
  assertEquals(
    absolute.message,
    'Cannot start "api": entrypoint "/srv/gone/api.ts" does not exist',
  );
  const relative = refusal(box, box.config("api.ts"));
  assertStringIncludes(relative.message, `entrypoint "${box.cwd}/api.ts" does not exist`);
  const word = refusal(box, box.config("nonesuch"));
  assertStringIncludes(word.message, `"nonesuch" does not exist in "${box.cwd}" or on PATH`);
});

Deno.test("commandLine() rejects a file that nothing can run", () => {
  using box = new Sandbox().files("data.txt", "plain", "folder/x");
  for (const entrypoint of ["./data.txt", "plain"]) {
    const error = refusal(box, box.config(entrypoint));
    assertStringIncludes(error.message, "is not executable");
    assertStringIncludes(error.hint!.text!, "runtime or interpreter");
  }
  assertStringIncludes(refusal(box, box.config("./folder")).message, "is a folder");
  const ruby = refusal(box, box.config("folder", { runtime: "ruby" }));
  assertStringIncludes(ruby.message, "ruby needs a file");
});

Deno.test("commandLine() names a missing interpreter", () => {
  using box = new Sandbox().files("app.py", "notes").program("tool.py");
  const expected = 'Cannot start "api": interpreter "python3" was not found on PATH';
  assertEquals(refusal(box, box.config("app.py")).message, expected);
  assertEquals(refusal(box, box.config("./tool.py")).message, expected);
  const given = (interpreter: string) =>
    refusal(box, box.config("app.py", { interpreter })).message;
  assertStringIncludes(given("/opt/none"), 'interpreter "/opt/none" does not exist');
  assertStringIncludes(given("./notes"), `interpreter "${box.cwd}/notes" is not executable`);
});

Deno.test("commandLine() returns command lines that really run", async () => {
  using box = new Sandbox();
  const path = Deno.env.get("PATH")!;
  const scripts = {
    "a.js": 'console.log("ran", process.argv[2])',
    "a.py": 'import sys; print("ran", sys.argv[1])',
    "a.ts": 'console.log("ran", Deno.args[0] as string)',
  };
  const needs: Record<string, string> = { "a.js": "node", "a.py": "python3" };
  for (const [file, source] of Object.entries(scripts)) {
    if (file in needs && findExecutable(needs[file]!, box.cwd, path) === undefined) continue;
    await Deno.writeTextFile(`${box.cwd}/${file}`, source);
    const { argv } = commandLine(box.config(file, { args: ["it's"] }), { path });
    const { stdout } = await new Deno.Command(argv[0]!, { args: argv.slice(1), cwd: box.cwd })
      .output();
    assertEquals(new TextDecoder().decode(stdout), "ran it's\n", argv.join(" "));
  }
});

Deno.test("commandLine() names a shebang that the system cannot follow", () => {
  using box = new Sandbox();
  const refused = (text: string) => {
    Deno.writeTextFileSync(box.program("my run").cwd + "/my run", text);
    const error = assertThrows(
      () => commandLine(box.config("my run"), { path: box.bin }),
      ProcsupError,
    );
    return `${error.message}; ${error.hint?.text}`;
  };
  const crlf = refused("#!/bin/sh\r\nexit\r\n");
  assertMatch(crlf, /app\/my run" has lines that end in CRLF.*; sed -i .* '\/.*app\/my run'$/);
  assertMatch(
    refused("#!/opt/no/such -x\n"),
    /begins with "#!\/opt\/no\/such", which does not exist/,
  );
  Deno.writeTextFileSync(`${box.cwd}/my run`, "#!/bin/sh\n");
  assertEquals(box.short(commandLine(box.config("my run"), { path: box.bin }).argv), "app/my run");
});

Deno.test("commandLine() uses the Python of the folder's virtual environment, unless one is activated", () => {
  using box = new Sandbox().installed(["python3"]).files("a.py").program(".venv/bin/python");
  const line = () => box.short(commandLine(box.config("a.py"), { path: box.bin }).argv);
  assertEquals(line(), "app/.venv/bin/python app/a.py");
  Deno.writeTextFileSync(`${box.bin}/../pyvenv.cfg`, "");
  assertEquals(line(), "bin/python3 app/a.py");
});

Deno.test("commandLine() explains how to write a command line that was given as entrypoint", () => {
  using box = new Sandbox();
  assertMatch(refusal(box, box.config("node x.js")).hint!.text!, /command: "node x\.js"/);
});
