/** The page on proxies: its examples run, and a browser uses the dashboard through them. */

import { assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path";
import type { Browser } from "playwright-core";
import { lookAt } from "../../src/platform/files/stat.ts";
import { hasBrowser, launchBrowser, signInBy } from "../dashboard/browser.ts";
import { freePort } from "../support/http_load.ts";
import { TestDaemon } from "../support/procsup.ts";
import { waitFor } from "../support/wait_for.ts";
import { examplesIn } from "./examples.ts";

const NAME = "ops.example.com";
const PEM = fromFileUrl(import.meta.resolve("../fixtures/tls/"));
const PROGRAMS = { nginx: "/usr/sbin/nginx", caddy: "/usr/bin/caddy" };

const [NGINX = "", CADDY = ""] = examplesIn("text")
  .filter(({ file }) => file.endsWith("/proxy.md")).map(({ text }) => text);

/** The example of the page, with ports and certificates of this test. */
function adapted(text: string, port: number, daemonPort: number): string {
  return text.replaceAll("8443", String(port)).replaceAll("9615", String(daemonPort))
    .replace("/etc/nginx/ops.pem", `${PEM}cert.pem`)
    .replace("/etc/nginx/ops.key", `${PEM}key.pem`);
}

interface Proxy {
  readonly of: keyof typeof PROGRAMS;
  readonly title: string;
  readonly basePath: string;
  readonly text: string;
}

const PROXIES: readonly Proxy[] = [
  { of: "nginx", title: "as documented", basePath: "/procsup", text: NGINX },
  {
    ...{ of: "nginx", title: "that removes the path", basePath: "/procsup" },
    text: NGINX.replace("9615;", "9615/;"),
  },
  {
    ...{ of: "nginx", title: "without a path, which drops the port", basePath: "/" },
    text: NGINX.replace("/procsup/", "/").replace("$http_host", "$host"),
  },
  {
    ...{ of: "nginx", title: "that has another Host and passes on that of the browser" },
    ...{ basePath: "/procsup" },
    text: NGINX.replace(
      "Host $http_host",
      "Host localhost; proxy_set_header X-Forwarded-Host $http_host",
    ),
  },
  { of: "caddy", title: "as documented", basePath: "/procsup", text: CADDY },
];

/** Runs a proxy until it is disposed of. */
function run({ of }: Proxy, folder: string, text: string): AsyncDisposable {
  const file = `${folder}/${of}.conf`;
  const whole = of === "nginx"
    ? `pid ${folder}/pid; error_log ${folder}/error.log; daemon off; events {}
       http { access_log off; ${
      ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map((name) => `${name}_temp_path ${folder}/${name};`).join(" ")
    } ${text} }`
    : `{\n admin off\n auto_https disable_redirects\n}\n` +
      text.replace("{", `{\n  tls ${PEM}cert.pem ${PEM}key.pem`);
  Deno.writeTextFileSync(file, whole);
  const child = new Deno.Command(PROGRAMS[of], {
    args: of === "nginx"
      ? ["-c", file, "-p", folder]
      : ["run", "--config", file, "--adapter", "caddyfile"],
    ...{ stdin: "null", stdout: "null", stderr: "null", env: { HOME: folder } },
  }).spawn();
  return {
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.status;
    },
  };
}

const daemon = TestDaemon.ofFile();
let browser: Promise<Browser> | undefined;

Deno.test.afterEach(async () => void await daemon.client.call("web_stop"));
Deno.test.afterAll(async () => await (await browser)?.close());

for (const proxy of PROXIES) {
  Deno.test({
    name: `the dashboard works behind ${proxy.of} ${proxy.title}`,
    ignore: !hasBrowser() || lookAt(PROGRAMS[proxy.of]) === undefined,
    sanitizeOps: false,
    sanitizeResources: false,
    async fn() {
      const [port, daemonPort] = [freePort(), freePort()];
      await daemon.startScript("app", "exec sleep 1000");
      await daemon.client.call("web_start", {
        ...{ listen: `127.0.0.1:${daemonPort}`, hosts: [`${NAME}:${port}`] },
        ...{ base_path: proxy.basePath, trusted_proxies: ["127.0.0.1"] },
      });
      await using _running = run(proxy, daemon.home, adapted(proxy.text, port, daemonPort));
      await waitFor(async () => {
        const connection = await Deno.connect({ port }).catch(() => undefined);
        connection?.close();
        return connection !== undefined;
      }, { what: "the proxy to listen" });
      browser ??= launchBrowser(`--host-resolver-rules=MAP ${NAME} 127.0.0.1`);
      await using context = await (await browser).newContext({ ignoreHTTPSErrors: true });
      const page = await context.newPage();
      const { url } = await daemon.client.call("web_link");
      const base = proxy.basePath === "/" ? "" : proxy.basePath;
      assertEquals(url.split("#")[0], `https://${NAME}:${port}${base}/`);
      const sockets: string[] = [];
      page.on("websocket", (socket) => sockets.push(socket.url()));
      await signInBy(url, page);
      assertEquals(sockets, [`wss://${NAME}:${port}${base}/ws`]);
      // A signed request with a body.
      await page.evaluate('location.hash = "#/processes/app"');
      await page.getByRole("button", { name: "Stop" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Stop" }).click();
      await waitFor(async () => (await daemon.status("app")).state === "stopped");
      await page.goto(`https://${NAME}:${port}${base}/docs/proxy`);
      await page.getByRole("link", { name: "dashboard and REST" }).click();
      await page.getByText("# Dashboard and live view").waitFor();
    },
  });
}
