/** A real browser that shows a real daemon's dashboard. */

import {
  type Browser,
  type BrowserContext,
  chromium,
  type Page,
  type Request,
  type Route,
} from "playwright-core";
import { lookAt } from "../../src/platform/files/stat.ts";
import { freePort } from "../support/http_load.ts";
import { TestDaemon } from "../support/procsup.ts";

/** The first one is the same engine without a window, which takes half the work. */
const CHROMIUMS = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--renderer-process-limit=1",
];

const executablePath = CHROMIUMS.find((path) => lookAt(path)?.isFile);

/** True if a browser is installed; otherwise prints a message. */
export function hasBrowser(): boolean {
  // deno-lint-ignore no-console
  if (!executablePath) console.log(`skipped: install chromium, for ${CHROMIUMS.join(" or ")}`);
  return executablePath !== undefined;
}

/** One browser for all tests of a file, because its start takes longer than most tests. */
let browser: Promise<Browser> | undefined;

/** The daemon of all tests of a file that do not ask for their own. */
let daemonOfFile: Promise<TestDaemon> | undefined;

function theBrowser(): Promise<Browser> {
  return browser ??= launchBrowser();
}

export async function launchBrowser(...flags: readonly string[]): Promise<Browser> {
  const args = [...FLAGS, ...flags];
  return await chromium.launch({ executablePath: executablePath!, args });
}

export interface BrowserTestOptions {
  readonly ignore?: boolean;
  /** A new daemon: for tests that another test's events would disturb, or that end the daemon. */
  readonly ownDaemon?: boolean;
}

/** A browser window that shows the dashboard of a daemon. */
export class Dashboard implements AsyncDisposable {
  readonly daemon: TestDaemon;
  readonly page: Page;
  /** Errors in the page. */
  readonly complaints: string[] = [];
  readonly #context: BrowserContext;
  readonly #isOwnDaemon: boolean;

  private constructor(daemon: TestDaemon, isOwn: boolean, context: BrowserContext, page: Page) {
    this.daemon = daemon;
    this.#isOwnDaemon = isOwn;
    this.page = page;
    this.#context = context;
    page.on("pageerror", (error) => this.complaints.push(String(error.stack ?? error)));
    page.on("dialog", (dialog) => {
      this.complaints.push(`A dialog came up: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on("console", (message) => {
      const isNetwork = /Failed to load resource|WebSocket connection/.test(message.text());
      if (message.type() === "error" && !isNetwork) this.complaints.push(message.text());
    });
  }

  /** Opens a window with separate cookies. */
  static async open({ ownDaemon = false }: BrowserTestOptions = {}): Promise<Dashboard> {
    const daemon = await (ownDaemon ? TestDaemon.start() : daemonOfFile ??= TestDaemon.start());
    const context = await (await theBrowser()).newContext({
      viewport: { width: 1280, height: 800 },
    });
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    return new Dashboard(daemon, ownDaemon, context, page);
  }

  /** Starts the web surface and returns its origin. */
  async listen(): Promise<string> {
    const listen = `127.0.0.1:${freePort()}`;
    await this.daemon.client.call("web_start", { listen });
    return `http://${listen}`;
  }

  /** Signs in by pasting a token of a role into the sign-in page. */
  async signInAs(role: "read" | "operate" | "admin", origin: string): Promise<void> {
    const { token } = await this.daemon.client.call("token_create", { name: `a-${role}`, role });
    // Of the same origin, but without the program, which would keep a pass for a reload meanwhile.
    await this.page.goto(`${origin}/livez`);
    await this.page.evaluate("sessionStorage.clear()");
    await this.page.goto(origin);
    await this.page.getByLabel("paste a link, a code or a token").fill(token);
    await this.page.getByRole("button", { name: "Sign in" }).click();
    await isLive(this.page);
  }

  /** Signs in by a link. */
  async signIn(): Promise<void> {
    await this.listen();
    await signInBy((await this.daemon.client.call("web_link")).url, this.page);
  }

  /** Goes to a screen. */
  async go(hash: string): Promise<void> {
    await this.page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  }

  /** Closes the window, and removes what the test left in the daemon. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#context.close();
    if (this.#isOwnDaemon) return await this.daemon[Symbol.asyncDispose]();
    await this.daemon.clear();
    await this.daemon.client.call("web_stop");
  }
}

/** Opens a sign-in link, and waits until the page has used it and is live. */
export async function signInBy(link: string, page: Page): Promise<void> {
  const used = page.waitForResponse((answer) =>
    answer.request().method() === "POST" && answer.url().endsWith("/session")
  );
  await page.goto(link);
  await used;
  await isLive(page);
}

/** The verb of a request and its payload; neither for a request that is no verb. */
export function calledBy(request: Request): { action?: string; payload?: Payload } {
  return request.url().endsWith("/ipc") ? request.postDataJSON() : {};
}

type Payload = Readonly<Record<string, unknown>>;

/** Lets `act` handle the requests of a page for a verb. */
export async function routeVerb(
  page: Page,
  verb: string,
  act: (route: Route, payload: Payload) => unknown,
): Promise<void> {
  await page.route("**/ipc", (route) => {
    const { action, payload = {} } = calledBy(route.request());
    return action === verb ? act(route, payload) : route.fallback();
  });
}

/** A script for a page whose WebSockets a proxy blocks. */
export const NO_WEBSOCKET = "window.WebSocket = class extends EventTarget {" +
  "constructor() { super(); setTimeout(() => this.dispatchEvent(new Event('close'))); }" +
  "close() {} send() {} }";

/** A script that collects violations of the Content-Security-Policy as `violations`. */
export const VIOLATIONS = "addEventListener('securitypolicyviolation', (event) => " +
  "(window.violations ??= []).push(event.violatedDirective + ' ' + event.sourceFile))";

/** Waits until a wide page is signed in and connected; it shows its screens earlier. */
export async function isLive(page: Page): Promise<void> {
  await page.locator(".side-host .is-live").waitFor();
}

Deno.test.afterAll(async () => {
  await (await browser)?.close();
  await (await daemonOfFile)?.[Symbol.asyncDispose]();
});

/** The visible text of a page. */
function textOf(page: Page): Promise<string> {
  return page.locator("body").innerText({ timeout: 1000 }).catch(String);
}

/**
 * A test in a browser; skipped if there is none. Without sanitizers, because browsers keep
 * resources open.
 */
export function browserTest(
  name: string,
  run: (dashboard: Dashboard) => Promise<void>,
  options: BrowserTestOptions = {},
): void {
  Deno.test({
    name,
    ignore: options.ignore || !hasBrowser(),
    sanitizeOps: false,
    sanitizeResources: false,
    async fn() {
      await using dashboard = await Dashboard.open(options);
      await run(dashboard).catch(async (error) => {
        const { page, complaints } = dashboard;
        // deno-lint-ignore no-console
        console.log([...complaints, `The page at ${page.url()}:`, await textOf(page)].join("\n"));
        throw error;
      });
      if (dashboard.complaints.length > 0) throw new Error(dashboard.complaints.join("\n"));
    },
  });
}
