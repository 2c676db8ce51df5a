/** The daemon's web listener: it follows its settings, and never a damaged file. */

import { fromFileUrl } from "@std/path";
import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { Token } from "../../src/daemon/token.ts";
import { WebListener } from "../../src/daemon/web_listener.ts";
import type { WebSettings } from "../../src/model/listen_address.ts";
import { prepareHome } from "../../src/platform/files/paths.ts";
import { isState, sealed } from "../../src/platform/files/state_file.ts";
import { tempHome } from "../support/temp_home.ts";
import { signIn, TestFeed } from "../support/web.ts";
import { FakeWeb } from "../web/fake_backend.ts";

const PEM = fromFileUrl(import.meta.resolve("../fixtures/tls/"));

const USUAL: WebSettings = {
  ...{ listen: "127.0.0.1:0", allow_remote: false, hosts: [], max_clients: 256 },
  ...{ base_path: "/", trusted_proxies: [] },
};

/** A listener with its own home, and its warnings. */
function scene() {
  const stack = new AsyncDisposableStack();
  const home = stack.use(tempHome());
  const web = stack.use(new FakeWeb());
  const paths = prepareHome(home.path);
  const warnings: string[] = [];
  const token = new Token(paths.token);
  const parts = { paths, token, backend: web.backend, warn: (text: string) => warnings.push(text) };
  const listener = new WebListener(parts);
  stack.defer(() => listener.close());
  const next = () => {
    const another = new WebListener(parts);
    stack.defer(() => another.close());
    return another;
  };
  /** A PEM file in the home with the given mode. */
  const pem = (name: string, mode = 0o600) => {
    const path = `${home.path}/${mode}-${name}`;
    Deno.copyFileSync(PEM + name, path);
    Deno.chmodSync(path, mode);
    return path;
  };
  return {
    listener,
    next,
    paths,
    token,
    warnings,
    pem,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

Deno.test("WebListener.resume() does not listen when its file is damaged, and reports it", async () => {
  await using web = scene();
  const wires: unknown[] = [
    ...[{}, null, [], "text", { listen: 1 }, { listen: "127.0.0.1:0", x: 1 }],
    ...[{ listen: "0.0.0.0:0" }, { listen: "127.0.0.1:0", allow_remote: "yes" }],
    { listen: "127.0.0.1:0", hosts: ["*/x"] },
  ];
  const damaged = [
    "garbage",
    "",
    '{"listen":"127.0.0.1:0"}',
    ...wires.map((one) => `${sealed(one)}\n`),
  ];
  for (const text of damaged) {
    Deno.writeTextFileSync(web.paths.web, text);
    await web.listener.resume();
    assertEquals(web.listener.status().status, "stopped", text);
    const [problem = "", ...more] = web.warnings.splice(0);
    assertStringIncludes(problem, `Unreadable state file "${web.paths.web}"`);
    assertEquals(more, ["The web listener stays stopped; to start it: procsup web start"]);
  }
  await web.listener.resume();
  assertEquals([web.listener.status().status, web.warnings], ["stopped", []]);
  await web.listener.start({ listen: "127.0.0.1:0" });
  const { addr } = web.listener.status();
  await web.listener.close();
  // Sessions that cannot be read are no reason to stay down.
  Deno.mkdirSync(`${web.paths.sessions}/x`, { recursive: true });
  const next = web.next();
  await next.resume();
  assertEquals([next.status().addr, web.warnings], [addr, []]);
  await next.close();
  Deno.removeSync(web.paths.web);
  const last = web.next();
  await last.resume();
  assertEquals([last.status().status, isState(web.paths.web)], ["stopped", false]);
});

Deno.test("WebListener warns at each start when other machines can reach it", async () => {
  await using web = scene();
  const started = await web.listener.start({ listen: "0.0.0.0:0", allow_remote: true });
  const words = /^Other machines can reach 0\.0\.0\.0:\d+: dashboard.*Nothing is encrypted/;
  assertMatch(started.warning!, words);
  await web.listener.close();
  const next = web.next();
  await next.resume();
  assertEquals(web.warnings, [`Web: ${started.warning}`, `Web: ${started.warning}`]);
  await next.stop();
  await next.start({ listen: "127.0.0.1:0" });
  assertEquals([next.status().warning, web.warnings.length], [undefined, 2]);
});

Deno.test("WebListener.start() changes the given settings of a listener, and only those", async () => {
  await using web = scene();
  const { addr } = await web.listener.start({ listen: "127.0.0.1:0", max_clients: 7 });
  const ask = async () => {
    using connection = await Deno.connect({ port: Number(addr.split(":")[1]) });
    const head = "GET /livez HTTP/1.1\r\nhost: example.com\r\nconnection: close\r\n\r\n";
    await connection.write(new TextEncoder().encode(head));
    return await new Response(connection.readable).text();
  };
  assertMatch(await ask(), /^HTTP\/1\.1 403 /);
  assertEquals((await web.listener.start({ hosts: ["example.com"] })).status, "started");
  assertMatch(await ask(), /^HTTP\/1\.1 200 /);
  assertEquals((await web.listener.start({ hosts: ["example.com"] })).status, "already_running");
  await assertRejects(
    () => web.listener.start({ listen: "127.0.0.1:1", hosts: [] }),
    Error,
    `Already listening on "${addr}"`,
  );
  await web.listener.close();
  const next = web.next();
  await next.resume();
  assertEquals(await next.settings(), {
    ...{ ...USUAL, listen: addr, hosts: ["example.com"], max_clients: 7 },
  });
});

Deno.test("WebListener serves HTTPS and wss with its own certificate", async () => {
  await using web = scene();
  const tls = { cert: web.pem("cert.pem", 0o644), key: web.pem("key.pem") };
  const { url } = await web.listener.configure({ ...USUAL, tls });
  assertMatch(url, /^https:\/\/127\.0\.0\.1:\d+$/);
  using client = Deno.createHttpClient({ caCerts: [Deno.readTextFileSync(tls.cert)] });
  const headers = { authorization: `Bearer ${web.token.value}` };
  const list = await fetch(`${url}/api/v1/processes`, { client, headers });
  assertEquals([list.status, (await list.json()).length], [200, 1]);
  const { port } = new URL(url);
  const socket = new WebSocket(`wss://localhost:${port}/ws`, { headers, client });
  using feed = new TestFeed(socket);
  await feed.opened;

  await assertRejects(() => fetch(`http://localhost:${port}/livez`));
  await web.listener.close();
  const next = web.next();
  await next.resume();
  assertEquals(next.status().url, url);
});

Deno.test("WebListener rejects invalid certificates and keys, and those that other users can access", async () => {
  await using web = scene();
  const [cert, key] = [web.pem("cert.pem", 0o644), web.pem("key.pem")];
  const { url } = await web.listener.configure({ ...USUAL, tls: { cert, key } });
  const rows = [
    [{ cert: "/nowhere.pem", key }, 'web.tls.cert "/nowhere.pem": no such file'],
    [{ cert: key, key }, "expected a certificate in PEM"],
    [{ cert, key: cert }, "others may access it (mode 0644)"],
    [{ cert, key: web.pem("cert.pem") }, "expected a private key in PEM"],
    [{ cert: web.pem("cert.pem", 0o666), key }, "others may access it (mode 0666)"],
    [{ cert, key: web.paths.home }, "it is not a file"],
    [{ cert, key: web.pem("other_key.pem") }, "KeyMismatch"],
  ] as const;
  for (const [tls, words] of rows) {
    await assertRejects(() => web.listener.configure({ ...USUAL, tls }), Error, words);
    assertEquals(web.listener.status().url, url, words);
  }
});

Deno.test("WebListener rejects a certificate that the owner of a folder could replace", {
  ignore: Deno.uid() !== 0,
}, async () => {
  await using web = scene();
  const theirs = `${web.paths.home}/theirs`;
  Deno.mkdirSync(theirs);
  const [cert, key] = [`${theirs}/cert.pem`, web.pem("key.pem")];
  Deno.copyFileSync(web.pem("cert.pem", 0o644), cert);
  Deno.chownSync(theirs, 65534, 65534);
  const configure = () => web.listener.configure({ ...USUAL, tls: { cert, key } });
  await assertRejects(configure, Error, `"${theirs}" belongs to user 65534`);
});

Deno.test("WebListener continues a session after a restart at its address only", async () => {
  await using one = scene();
  const { listener, next, token } = one;
  const { url } = await listener.start({ listen: "127.0.0.1:0" });
  const session = await signIn(url, { token: token.value });
  const status = async () => {
    session.proof = await (await fetch(`${url}${session.proofPath()}`)).json();
    const answer = await session.fetch("/api/v1/session");
    await answer.body?.cancel();
    return answer.status;
  };
  assertEquals(await status(), 200);
  const captured = await session.authorization("GET", "/api/v1/session");
  await listener.close();
  const later = next();
  await later.resume();
  const replayed = await fetch(`${url}/api/v1/session`, { headers: { authorization: captured } });
  await replayed.body?.cancel();
  assertEquals(replayed.status, 401);
  assertEquals(await status(), 200);
  await later.configure({ ...(await later.settings())!, listen: "127.0.0.1:0" });
  await later.close();
});
