/** Another machine's daemon over ssh: every verb, streams, and interrupted connections. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { DaemonClient } from "../../src/protocol/daemon_client.ts";
import { programLine, programWords, TestDaemon } from "../support/procsup.ts";
import { PASSPHRASE, sshdMissing, SshServer } from "../support/ssh_server.ts";
import { tmuxMissing, TmuxTerminal } from "../support/tmux.ts";
import { waitFor } from "../support/wait_for.ts";

const HOST = ["--host", "web1"];

/** The names of the programs that a process has started. */
function childrenOf(pid: number): string[] {
  const { stdout } = new Deno.Command("ps", {
    args: ["--ppid", String(pid), "-o", "comm=", "--no-headers"],
  }).outputSync();
  return new TextDecoder().decode(stdout).trim().split("\n");
}

/** The lines of a stream, as they arrive. */
async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let held = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (held + text).split("\n");
    held = lines.pop()!;
    yield* lines;
  }
}

Deno.test(
  { name: "procsup --host", ignore: Deno.build.os !== "linux" || sshdMissing() },
  async (t) => {
    await using daemon = await TestDaemon.start();
    await using server = await SshServer.start(daemon.home);
    const there = (...args: string[]) => server.cli(...HOST, ...args);
    const ok = async (...args: string[]) => {
      const { code, stdout, stderr } = await there(...args);
      assertEquals(code, 0, `${args.join(" ")}: ${stdout}${stderr}`);
      return stdout + stderr;
    };

    await t.step("starts that machine's scripts and files", async () => {
      const { folder } = server;
      Deno.writeTextFileSync(`${folder}/app.sh`, "#!/bin/sh\necho in $PWD; exec sleep 1000", {
        mode: 0o700,
      });
      Deno.writeTextFileSync(
        `${folder}/procsup.yaml`,
        "processes:\n  db: { entrypoint: sleep, args: ['1000'] }\n  job: { entrypoint: sleep, args: ['1000'] }\n",
      );
      await ok("start", `${folder}/app.sh`, "--name", "app", "--cwd", folder, "--no-wait");
      await waitFor(async () => (await ok("logs", "app")).includes(`in ${folder}`));
      assertStringIncludes(
        await ok("up", `${folder}/procsup.yaml`, "--only", "db", "--no-wait"),
        "db",
      );
      assertStringIncludes(await ok("config", "plan", `${folder}/procsup.yaml`), "job");
      assertStringIncludes(await ok("down", `${folder}/procsup.yaml`), "db");
      const missing = await there("up", "/nowhere/procsup.yaml");
      assertEquals(missing.code, 2);
      assertStringIncludes(missing.stderr, "On web1: /nowhere/procsup.yaml: no such file");
      const unnamed = await there("up");
      assertStringIncludes(unnamed.stderr, "On web1: No configuration file is applied");
    });

    await t.step("supports commands with their own protocol", async () => {
      assertStringIncludes(await ok("status", "app"), `${daemon.home}/apps/app/stdout.log`);
      assertStringIncludes(await ok("status"), daemon.home);
      assertStringIncludes(await ok("restart", "app", "-e", "A=b", "--no-wait"), "app");
      assertStringIncludes(await ok("signal", "CONT", "app"), "app");
      assertStringIncludes(await ok("events", "app"), "added");
      assertMatch(await ok("top", "--once"), /app +running/);
      const gone = await there("why", "gone");
      assertEquals(gone.code, 4);
      assertStringIncludes(gone.stderr, "On web1: ");
    });

    await t.step("supports every MCP verb over one connection", async () => {
      const [command, ...words] = programWords();
      const client = new Client({ name: "test", version: "1" });
      const args = [...words, ...HOST, "mcp", "--toolsets", "all"];
      await client.connect(new StdioClientTransport({ command: command!, args, env: server.env }));
      const call = async (name: string, given: Record<string, unknown> = {}) => {
        const { isError, content } = await client.callTool({ name, arguments: given });
        assertEquals(isError ?? false, false, `${name}: ${JSON.stringify(content)}`);
        return JSON.stringify(content);
      };
      assertStringIncludes(await call("list_apps"), "app");
      await call("scale_app", { target: "app", instances: 2 });
      for (const name of ["stop_app", "restart_app", "reload_app", "get_status"]) {
        assertStringIncludes(await call(name, { target: "app:1" }), "app:1");
      }
      assertStringIncludes(await call("reload_app", { target: "app", batch_size: 1 }), "app:1");
      for (const name of ["get_logs", "get_metrics"]) {
        await call(name, { target: "app:1" });
      }
      for (const name of ["list_jobs", "save_state", "resurrect_processes"]) await call(name);
      await call("delete_app", { target: "app" });
      assertEquals(await daemon.client.call("list"), []);
      await client.close();
    });

    await t.step(
      "does nothing twice when the connection drops during a start",
      async () => {
        const { folder } = server;
        const script = `#!/bin/sh
          echo began >> ${folder}/begun
          while [ ! -e ${folder}/go ]; do sleep 0.05; done
          echo ready
          exec sleep 1000`;
        Deno.writeTextFileSync(`${folder}/slow.sh`, script, { mode: 0o700 });
        const flags = ["--name", "slow", "--ready-log", "ready"];
        const start = server.spawn(...HOST, "start", `${folder}/slow.sh`, ...flags);
        await waitFor(async () => (await daemon.status("slow")).state === "starting");
        assert(server.cut(start) > 0);
        const { code, stderr } = await start.output();
        assertEquals(code, 5);
        assertStringIncludes(new TextDecoder().decode(stderr), "The connection to web1 is lost");
        Deno.writeTextFileSync(`${folder}/go`, "");
        await daemon.client.call("wait", { target: "slow", for: "ready" });
        assertEquals(Deno.readTextFileSync(`${folder}/begun`), "began\n");
        assertEquals(
          (await daemon.client.call("list")).filter(({ name }) => name === "slow").length,
          1,
        );
      },
    );

    await t.step("follows 1,000 lines, each once, over a dropped connection", async () => {
      const script = "i=0; while [ $i -lt 1000 ]; do i=$((i+1)); echo $i; done; read -r more; " +
        "while [ $i -lt 1100 ]; do i=$((i+1)); echo $i; done; exec sleep 1000";
      await daemon.startScript("many", script, { stdin: true });
      const logs = server.spawn(...HOST, "logs", "many", "-f", "-n", "1000", "-o", "jsonl");
      const told = new Response(logs.stderr).text();
      const got: string[] = [];
      for await (const text of linesOf(logs.stdout)) {
        got.push(JSON.parse(text).line);
        if (got.length === 1000) {
          assert(server.cut(logs) > 0);
          await daemon.client.call("send", { target: "many", text: "go\n" });
        }
        if (got.length === 1100) break;
      }
      logs.kill();
      await logs.status;
      assertEquals(got, Array.from({ length: 1100 }, (_, index) => String(index + 1)));
      assertEquals(await told, "");
    });

    await t.step("lists several machines, including unreachable ones", async () => {
      const all = await server.cli("list", "--all-contexts");
      assertEquals(all.code, 5);
      assertMatch(all.stdout, /^web1 +\d+ +many +running/m);
      assertMatch(all.stdout, /^down +- +- +unreachable/m);
      assertMatch(all.stderr, /✘ down {2}Cannot reach down by ssh: ssh: connect to host .*refused/);
      const { stdout } = await server.cli("list", "many", "--all-contexts", "-o", "jsonl");
      const items = stdout.trim().split("\n").map((line) => JSON.parse(line));
      assertEquals(items.find(({ name }) => name === "many").context, "web1");
      assertEquals(items.find(({ context }) => context === "down").code, "host_unreachable");
    });

    await t.step("a daemon lists them for the dashboard, and leaves no ssh behind", async () => {
      const home = `${server.folder}/own`;
      const { code, stderr } = await server.cli(
        "--home",
        home,
        "start",
        "sleep 1000",
        "-n",
        "here",
      );
      assertEquals(code, 0, stderr);
      const client = new DaemonClient(home);
      const [first, second] = await Promise.all([client.call("contexts"), client.call("contexts")]);
      assertEquals(first, second);
      const shown = new Map(first.map((one) => [one.context, one]));
      assertEquals(shown.get("local")?.apps.map(({ name, state }) => [name, state]), [
        ["here", "running"],
      ]);
      assertEquals(shown.get("web1")?.apps.map(({ name, ready }) => [name, ready]), [
        ["slow", true],
        ["many", true],
      ]);
      assertMatch(shown.get("down")?.error ?? "", /^Cannot reach down by ssh: .*refused/);
      const { daemon: { pid } } = await client.call("system_metrics");
      await waitFor(() => childrenOf(pid).every((name) => name !== "ssh"));
      assertEquals((await server.cli("--home", home, "shutdown", "--yes")).code, 0);
    });

    await t.step("reports what is wrong", async () => {
      const expect = async (words: readonly string[], message: string, code = 2) => {
        const { stderr, ...result } = await server.cli(...words);
        assertStringIncludes(stderr, message);
        assertEquals(result.code, code);
      };
      await expect(["--host", "down", "list"], "Cannot reach down by ssh: ssh: connect to host", 5);
      await expect(["--host=-oProxyCommand=id", "list"], 'Invalid host "-oProxyCommand=id"');
      await expect(["--host", "server:22", "list"], "With a port: ssh://server:22");
      await expect([...HOST, "doctor"], '"doctor" acts on this machine only');
      const none = ["--host", "server", "--remote-procsup", "/none/procsup", "list"];
      await expect(none, "Cannot run procsup on server: ", 5);
    });

    await t.step("uses a context until another one is selected", async () => {
      const { folder } = server;
      assertEquals((await server.cli("context", "use", "web1")).code, 0);
      assertStringIncludes((await server.cli("list", "-o", "name")).stdout, "many");
      const local = await server.cli("--host", "local", "list");
      assertStringIncludes(local.stderr, "No daemon answers");
      const home = await server.cli("--home", `${folder}/none`, "list");
      assertStringIncludes(home.stderr, `No daemon answers for home "${folder}/none"`);
      assertEquals((await server.cli("context", "use", "local")).code, 0);
    });

    await t.step({
      name: "shows top and attaches in a terminal",
      ignore: tmuxMissing(),
      fn: async () => {
        // The terminal's shell has its own PATH.
        const program = `PATH='${server.env.PATH}' ${programLine()} ${HOST.join(" ")}`;
        await daemon.startScript("tty", 'while read -r line; do echo "got $line"; done', {
          tty: true,
        });
        await using terminal = await TmuxTerminal.open({ ...server.env, NO_COLOR: "1" });
        await terminal.command(`${program} top; echo "ended $?"`);
        await terminal.sees((screen) => /many +running/.test(screen) && / \d+% /.test(screen));
        await terminal.keys("q");
        await terminal.sees("ended 0");
        await terminal.command(`clear; ${program} attach tty`);
        await terminal.sees("attached to tty");
        await terminal.command("hello");
        await terminal.sees("got hello");
        await terminal.keys("C-]");
        await terminal.sees("detached from tty");
      },
    });

    await t.step({
      name: "ssh asks for a passphrase on the terminal, but not when several machines are queried",
      ignore: tmuxMissing(),
      fn: async () => {
        const program = `PATH='${server.env.PATH}' ${programLine()}`;
        await using terminal = await TmuxTerminal.open({ ...server.env, NO_COLOR: "1" });
        const said = { "list many": "running", "logs many -n 1": "1100", "stop none": "none" };
        for (const [words, answer] of Object.entries(said)) {
          await terminal.command(`clear; ${program} --host asks ${words}; echo "ended $?"`);
          const isOver = (screen: string) => /ended \d/.test(screen);
          await terminal.sees((screen) => screen.includes("Enter passphrase") && !isOver(screen));
          await terminal.command(PASSPHRASE);
          assertStringIncludes(await terminal.sees(isOver), answer);
        }
        const { code, stdout } = await server.cli("list", "--all-contexts", "--json");
        assertEquals(code, 5);
        const asks = JSON.parse(stdout).filter(({ context }: { context: string }) =>
          context === "asks"
        );
        assertMatch(asks[0].error, /Permission denied/);
      },
    });
  },
);
