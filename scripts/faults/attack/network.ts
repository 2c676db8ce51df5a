/** Attacks over the network: shutting out other clients, and reading what is sent unencrypted. */

import { fromFileUrl } from "@std/path";
import { upgradeRequest } from "../../../tests/support/web.ts";
import { waitFor } from "../../../tests/support/wait_for.ts";
import { type Attack, brief, holds, type Scene, within } from "./scene.ts";

const PROCESSES = "/api/v1/processes";
const FIXTURES = fromFileUrl(import.meta.resolve("../../../tests/fixtures/tls/"));

function log(scene: Scene): string {
  return Deno.readTextFileSync(`${scene.daemon.home}/daemon.log`);
}

function feedOf(scene: Scene, token: string): string {
  return upgradeRequest({ host: `127.0.0.1:${scene.web.port}`, authorization: `Bearer ${token}` });
}

/** Reads the first bytes of a connection. */
async function firstOf(connection: Deno.Conn): Promise<string> {
  const bytes = new Uint8Array(512);
  return new TextDecoder().decode(bytes.subarray(0, await connection.read(bytes) ?? 0));
}

export const network: Readonly<Record<string, Attack>> = {
  async "a read token opens as many WebSockets as possible"(scene) {
    const token = await scene.token("read");
    for (let i = 0; i < 300; i++) await firstOf(await scene.web.connect(feedOf(scene, token)));
    const owner = await scene.web.connect(feedOf(scene, scene.web.token));
    const told = await within(5000, "the owner's WebSocket", firstOf(owner));
    holds(told.startsWith("HTTP/1.1 101"), `the owner gets ${brief(told)}`);
    return "the owner is let in beside 300";
  },

  async "two thousand silent connections"(scene) {
    const all: Deno.Conn[] = [];
    for (let i = 0; i < 2000; i++) all.push(await scene.web.connect(i % 2 ? "GET / HT" : ""));
    const asked = scene.ask(scene.web.token, "GET", PROCESSES);
    const { status } = await within(10_000, "an answer to the owner", asked);
    holds(status === 200, `the owner gets ${status}`);
    for (const one of all) one.close();
    return "the owner is answered";
  },

  async "bodies that are too large, endless or cut off"(scene) {
    const before = scene.memory();
    const head =
      `POST ${PROCESSES} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n` +
      `Authorization: Bearer ${scene.web.token}\r\n`;
    const large = await scene.web.raw(`${head}Content-Length: 99999999999\r\n\r\n{`);
    holds(large.startsWith("HTTP/1.1 413"), `99 GB: ${brief(large)}`);
    const chunk = `10000\r\n${"x".repeat(65_536)}\r\n`;
    const endless = await scene.web.raw(
      `${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(200)}`,
    )
      .catch(() => "");
    holds(!endless.startsWith("HTTP/1.1 2"), `13 MB in chunks: ${brief(endless)}`);
    for (let i = 0; i < 50; i++) {
      (await scene.web.connect(`${head}Content-Length: 1000\r\n\r\n{"name":`)).close();
    }
    const both = `${head}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET`;
    const two = await scene.web.raw(both);
    holds(/^HTTP\/1.1 4/.test(two), `both lengths: ${brief(two)}`);
    await scene.daemon.client.call("ping");
    const grown = scene.memory() - before;
    holds(grown < 100, `memory +${grown} MiB`);
    holds(!/\n\s+at /.test(log(scene)), "cut uploads leave stacks in the daemon's log");
    return `refused; memory +${grown} MiB; no stack in the log`;
  },

  async "tokens are guessed"(scene) {
    const statuses = new Set<number>();
    for (let i = 0; i < 30; i++) {
      statuses.add((await scene.ask(`ps_${i}`, "GET", PROCESSES)).status);
    }
    holds(statuses.has(429) && !statuses.has(200), `gives ${[...statuses].join(", ")}`);
    const { status } = await scene.ask(scene.web.token, "GET", PROCESSES);
    holds(status === 200, `the owner gets ${status} meanwhile`);
    return "429 after ten; the owner is let in";
  },

  async "a listener for other machines gives no warning at its next start"(scene) {
    const { daemon } = scene;
    await daemon.client.call("web_stop");
    await daemon.client.call("web_start", { listen: "0.0.0.0:0", allow_remote: true });
    const words = (text: string) => text.split("\n").filter((line) => /other machines/i.test(line));
    const before = words(log(scene)).length;
    await daemon.kill();
    await daemon.run();
    await waitFor(async () => (await daemon.client.call("web_status")).url !== "");
    const after = words(log(scene)).length;
    holds(after > before, "no warning at the second start");
    return `"${brief(words(log(scene)).at(-1)!).slice(-90)}"`;
  },

  async "a listener for other machines without allow_remote"(scene) {
    for (const listen of ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"]) {
      await scene.daemon.client.call("web_stop");
      const said = await scene.daemon.client.call("web_start", { listen })
        .then(() => "started", String);
      holds(said !== "started", `${listen} is listened on`);
    }
    return "refused";
  },

  async "a TLS listener gets plain HTTP"(scene) {
    const { daemon } = scene;
    await daemon.client.call("web_stop");
    const key = `${scene.path}/key.pem`;
    Deno.writeTextFileSync(key, Deno.readTextFileSync(`${FIXTURES}key.pem`), { mode: 0o600 });
    const tls = { cert: `${FIXTURES}cert.pem`, key };
    const file = `${scene.path}/procsup.yaml`;
    Deno.writeTextFileSync(file, JSON.stringify({ web: { listen: "127.0.0.1:9917", tls } }));
    const { code, stderr } = await daemon.cli("up", file);
    holds(code === 0, `no TLS: ${brief(stderr)}`);
    const { url } = await daemon.client.call("web_status");
    holds(url.startsWith("https:"), `listens at ${url}`);
    using plain = await Deno.connect({ port: 9917 });
    const request = `GET ${PROCESSES} HTTP/1.1\r\nHost: 127.0.0.1\r\n` +
      `Authorization: Bearer ${scene.web.token}\r\n\r\n`;
    await plain.write(new TextEncoder().encode(request));
    const told = await within(15_000, "the end", firstOf(plain).catch(() => ""));
    holds(!told.includes("200"), `in clear it answers ${brief(told)}`);
    return "no answer in clear";
  },
};
