/** Serving the files of a folder as an app. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { freePort } from "../support/http_load.ts";
import { TestDaemon } from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";

const daemon = TestDaemon.ofFile();

/** The answer that curl gets for a path, which it sends unchanged. */
async function get(url: string, ...flags: string[]): Promise<string> {
  const { stdout } = await new Deno.Command("curl", {
    args: ["-s", "--path-as-is", "-m", "20", "-w", "%{http_code}", ...flags, url],
  }).output();
  return new TextDecoder().decode(stdout).replaceAll("\n", " ");
}

function site(folder: string): string {
  const www = `${folder}/www`;
  for (const name of ["sub", ".git", ".well-known"]) {
    Deno.mkdirSync(`${www}/${name}`, { recursive: true });
  }
  const files = {
    "../secret": "secret",
    "index.html": "home",
    "sub/index.html": "sub",
    ".git/config": "hidden",
    ".well-known/token": "token",
    "ü b.txt": "0123456789",
  };
  for (const [name, text] of Object.entries(files)) {
    Deno.writeTextFileSync(`${www}/${name}`, `${text}\n`);
  }
  Deno.symlinkSync("../secret", `${www}/link`);
  Deno.symlinkSync(folder, `${www}/folder`);
  Deno.symlinkSync("sub/index.html", `${www}/inside.html`);
  new Deno.Command("mkfifo", { args: [`${www}/fifo`] }).outputSync();
  return www;
}

Deno.test("serve serves only the files of a folder, and survives a SIGKILL of the daemon", async () => {
  await using temp = tempHome();
  const www = site(temp.path);
  const port = `${freePort()}`;
  const url = `http://127.0.0.1:${port}`;
  const serve = await daemon.cli("serve", www, "--port", port, "--name", "web");
  assertEquals([serve.code, serve.stderr], [0, ""]);
  assertStringIncludes(serve.stdout, `  http://0.0.0.0:${port}; other machines can open it`);
  await daemon.kill();
  assertEquals(await get(`${url}/`), "home 200");
  await daemon.run();
  assertEquals((await daemon.status("web")).restarts, 0);
  const outside = ["/../secret", "/..%2fsecret", "/%2e%2e/secret", "/sub/../../secret", "/link"];
  outside.push("/folder/secret", "/folder", "/.git/config", "/.well-known/../.git/config", "/fifo");
  outside.push("//example.com/", "/index.html/", "/index.html/x", `/${"a".repeat(300)}`, "/none");
  for (const path of outside) assertEquals(await get(url + path), "Not Found 404", path);
  for (const path of ["/%00", "/sub/%zz"]) assertEquals(await get(url + path), "Bad Request 400");
  assertEquals(await get(`${url}/`, "-X", "POST"), "Method Not Allowed 405");
  const redirect = ["-o", "/dev/null", "-w", "%{http_code} %{redirect_url}"];
  assertEquals(await get(`${url}//sub?q=1`, ...redirect), `301 ${url}/sub/?q=1`);
  assertEquals(await get(`${url}/sub/`), "sub 200");
  assertEquals(await get(`${url}/inside.html`), "sub 200");
  assertEquals(await get(`${url}/.well-known/token`), "token 200");
  const text = `${url}/%C3%BC%20b.txt`;
  assertEquals(await get(text, "-r", "2-4"), "234206");
  assertEquals(await get(text, "-r", "2-4", "-H", 'If-Range: "other"'), "0123456789 200");
  assertEquals(await get(text, "-r", "99-"), "Range Not Satisfiable 416");
  assertEquals(await get(text, "-H", 'If-Match: "other"'), "Precondition Failed 412");
  const head = await get(text, "-I");
  assertStringIncludes(head, "text/plain; charset=utf-8");
  const [, tag] = /etag: (\S+)/i.exec(head)!;
  assertEquals(await get(text, "-H", `If-None-Match: ${tag}`), "304");
  // Browsers open connections ahead of requests.
  using _ahead = await Deno.connect({ port: Number(port) });
  assertEquals((await daemon.cli("stop", "web")).code, 0);
  assertEquals((await daemon.status("web")).exit_code, 0);
});

Deno.test("serve --spa has a page for every path, and reports a taken port or a missing folder", async () => {
  await using temp = tempHome();
  const www = site(temp.path);
  const port = `${freePort()}`;
  const args = ["serve", www, "--port", port, "--bind", "127.0.0.1"];
  const serve = await daemon.cli(...args, "--spa");
  assertEquals([serve.code, serve.stdout.split("\n")[1]], [0, `  http://127.0.0.1:${port}`]);
  assertEquals(await get(`http://127.0.0.1:${port}/a/b`), "home 200");
  assertEquals(await get(`http://127.0.0.1:${port}/a/b.js`), "Not Found 404");
  const taken = await daemon.cli(...args, "--name", "other");
  assertEquals(taken.code, 1);
  assertStringIncludes(taken.stderr, `Cannot listen on 127.0.0.1:${port}`);
  const missing = await daemon.cli("serve", `${www}/none`);
  assertEquals(missing.code, 2);
  assertStringIncludes(missing.stderr, `Cannot serve ${www}/none: no such folder`);
});

Deno.test("serve-files without the C library, as on macOS, finds a name that holds a % sign", async () => {
  await using temp = tempHome();
  Deno.writeTextFileSync(`${temp.path}/100%25.txt`, "all\n");
  const port = `${freePort()}`;
  const main = fromFileUrl(import.meta.resolve("../../main.ts"));
  const words = ["serve-files", temp.path, "--port", port, "--bind", "127.0.0.1"];
  await using _server = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--deny-ffi", main, ...words],
    stdin: "null",
    stdout: "null",
  }).spawn();
  const url = `http://127.0.0.1:${port}`;
  await waitFor(async () => await get(`${url}/none`) === "Not Found 404");
  assertEquals(await get(`${url}/100%2525.txt`), "all 200");
});

Deno.test("a server that exits with 0 without an error gets a hint that its PORT is in use", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  using listener = Deno.listen({ port: 0 });
  const PORT = `${listener.addr.port}`;
  const hintOf = async (name: string, env: Record<string, string>) =>
    (await daemon.startScript(name, "exit 0", { env, wait: true })).results[0]!.hint?.text;
  // As express 5 does.
  assertStringIncludes((await hintOf("taken", { PORT }))!, `Port ${PORT}, its PORT, is in use`);
  assertStringIncludes((await hintOf("plain", {}))!, "restart_policy never");
});

Deno.test("a delete leaves no time index beside logs in the user's own folder", async () => {
  await using temp = tempHome();
  const log = `${temp.path}/x.log`;
  await daemon.startScript("app", "echo one; exec sleep 1000", { log: { stdout: log } });
  const names = () => [...Deno.readDirSync(temp.path)].map(({ name }) => name).sort();
  await waitFor(() => names().includes("x.log.idx"));
  await daemon.client.call("delete", { target: "app" });
  assertEquals(names(), ["x.log", "x.log.pos"]);
});
