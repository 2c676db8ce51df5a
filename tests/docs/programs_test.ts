/** The five programs of the page, each run as printed, with real tools. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { isInstalled } from "../support/installed.ts";
import { linkLibrary } from "../support/link_library.ts";
import { examplesIn, ROOT } from "./examples.ts";
import { isAlive, TestDaemon } from "../support/procsup.ts";
import { type TempHome, tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";
import { freePort, waitForPort } from "../../src/mod.ts";

const IMPORTS: Readonly<Record<string, string>> =
  JSON.parse(Deno.readTextFileSync(`${ROOT}deno.json`)).imports;

/** The program on the page with this text, started in a folder. */
function program(folder: TempHome, says: string, env = {}, words: readonly string[] = []) {
  const { text } = examplesIn("ts").find(({ file, text }) =>
    file.endsWith("programs.md") && text.includes(says)
  )!;
  linkLibrary(folder.path, { hono: IMPORTS.hono!, "hono/": IMPORTS["hono/"]! });
  const isTest = text.includes("Deno.test(");
  const file = `${folder.path}/program.ts`;
  Deno.writeTextFileSync(file, text);
  return new Deno.Command(Deno.execPath(), {
    args: [isTest ? "test" : "run", "-A", "--no-check", "--no-lock", file, ...words],
    cwd: folder.path,
    env: { NO_COLOR: "1", TMPDIR: folder.path, ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

async function textOf(child: Deno.ChildProcess): Promise<string> {
  const { stdout, stderr } = await child.output();
  const text = new TextDecoder();
  return text.decode(stdout) + text.decode(stderr);
}

Deno.test("the development servers run together, and end with their program", async () => {
  await using folder = tempHome();
  const api =
    "Deno.serve({ port: Number(Deno.env.get('PORT')) }, () => new Response(`${Deno.pid}`));";
  for (const [name, code] of [["api", api], ["worker", "console.log('at work', Deno.cwd());"]]) {
    Deno.mkdirSync(`${folder.path}/${name}`);
    Deno.writeTextFileSync(
      `${folder.path}/${name}/main.ts`,
      `${code}\nsetInterval(() => {}, 1e6);`,
    );
    Deno.writeTextFileSync(`${folder.path}/${name}/deno.json`, "{}");
  }
  const child = program(folder, "worker/main.ts");
  let said = "";
  const reading = (async () => {
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) said += text;
  })();
  await waitFor(() => said.includes("worker | at work"), { what: "the worker" });
  assertStringIncludes(said, `worker | at work ${folder.path}/worker`);
  const [url] = /http:\S+/.exec(said)!;
  const pid = Number(await (await fetch(url)).text());
  assert(isAlive(pid));
  child.kill("SIGINT");
  assertEquals((await child.status).signal, "SIGINT");
  await reading;
  await child.stderr.cancel();
  assert(!isAlive(pid));
});

Deno.test({
  name: "the test with its own Redis passes",
  ignore: !isInstalled("redis-server"),
  fn: async () => {
    await using folder = tempHome();
    assertStringIncludes(await textOf(program(folder, "redis-server")), "ok | 1 passed");
  },
});

Deno.test("the queue runs its jobs and reports the failed one", async () => {
  await using folder = tempHome();
  for (const [name, lines] of Object.entries({ one: "1\n", two: "1\n2\n", three: "1\n2\n3\n" })) {
    Deno.writeTextFileSync(`${folder.path}/${name}.txt`, lines);
  }
  const said = (await textOf(program(folder, "wc -l"))).trim().split("\n").sort();
  assertEquals(said.slice(0, 3), ["1 one.txt", "2 two.txt", "3 three.txt"]);
  assertMatch(said[3]!, /^failed: \S*wc: .*none\.txt/);
});

Deno.test("the page shows the apps and restarts one; the deployment rolls back a failed release", async () => {
  await using daemon = await TestDaemon.start();
  await using folder = tempHome();
  const shop = await daemon.startScript(
    "shop",
    '[ "$VERSION" != bad ] || { echo "no such version" >&2; exit 1; }; echo "$VERSION"; exec sleep 1000',
  );
  const port = await freePort();
  const page = program(folder, "Hono", { PROCSUP_HOME: daemon.home, PORT: String(port) });
  await waitForPort(port);
  const shown = await (await fetch(`http://localhost:${port}/`)).text();
  assertMatch(shown, /<li>shop: running, \d+ MB/);
  const after = await fetch(`http://localhost:${port}/shop/restart`, { method: "POST" });
  assertMatch(await after.text(), /<li>shop: running/);
  page.kill();
  await page.output();
  const { pid } = await daemon.status("shop");
  assert(pid !== shop.pid);

  const { url } = await daemon.client.call("web_start", { listen: "127.0.0.1:0" });
  const { token } = await daemon.client.call("token");
  const env = { PROCSUP_URL: url, PROCSUP_TOKEN: token };
  const deploy = (version: string) => textOf(program(folder, "VERSION", env, [version]));
  const good = await deploy("2.0");
  const now = await daemon.status("shop");
  assertEquals(good, `shop is 2.0, pid ${now.pid}\n`);
  assertEquals(await deploy("bad"), "shop stays as it was: no such version\n");
  const { state } = await daemon.status("shop");
  const { stdout } = await daemon.cli("logs", "shop", "--lines", "1", "--raw");
  assertEquals([state, stdout], ["running", "2.0\n"]);
});
