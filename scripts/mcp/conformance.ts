/**
 * The official conformance suite for servers. It was written for the SDKs' demo servers: most scenarios
 * need a tool, prompt or resource of theirs, or a feature that procsup does not declare (logging,
 * tasks, subscriptions over stateless HTTP). Every other check must pass.
 */

import http from "node:http";
import { runPackage } from "./package.ts";

/** The last suite for the 2025 protocols, and the first one for 2026-07-28. */
export const SUITES = [
  "@modelcontextprotocol/conformance@0.1.16",
  "@modelcontextprotocol/conformance@0.2.0-alpha.12",
] as const;

/** Scenarios that any server must pass. */
const FOR_ALL = [
  "server-initialize",
  "ping",
  "tools-list",
  "resources-list",
  "prompts-list",
  "dns-rebinding-protection",
];

/** Failures caused by missing parts of the demo server. */
const FIXTURE_MISSING =
  /(tool|prompt) '?[\w-]+'? not found|resource not found: \w+:\/\/|not testable/i;

/** Scenarios of undeclared features, and how their checks fail. */
const UNDECLARED = /^(logging|tasks|caching|resources-(un)?subscribe|tools-call-with-logging)/;
const UNDECLARED_WORDS = /method not found|-32601|MUST be advertised/i;

/** Checks about the demo server's tools and prompts whose messages do not say so. */
const ABOUT_FIXTURES: ReadonlySet<string> = new Set([
  "sep-2322-multi-round-r1",
  "sep-2322-non-tool-incomplete",
  "sep-2322-reject-tampered-state",
  "sep-2663-server-rejects-mismatched-mcp-name-on-tasks-get",
  "sep-2663-server-returns-missing-capability-when-required",
]);

interface Check {
  readonly id: string;
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "INFO" | "SKIPPED";
  readonly errorMessage?: string;
}

/** The result of a scenario. */
interface Scenario {
  readonly name: string;
  readonly passed: number;
  /** Number of checks that cannot pass here. */
  readonly notOurs: number;
  /** Messages of failed checks. */
  readonly failed: readonly string[];
}

/** Runs every scenario of a suite against a server. The suite writes its results to `folder`. */
export async function conformance(suite: string, url: string, folder: string): Promise<Scenario[]> {
  const output = Deno.makeTempDirSync({ dir: folder });
  const args = ["server", "--url", url, "--suite", "all", "--output-dir", output];
  const { stdout, stderr } = await runPackage(suite, args, folder);
  const scenarios = [...Deno.readDirSync(output)].map(({ name }) => name).sort()
    .map((name) =>
      judged(name, JSON.parse(Deno.readTextFileSync(`${output}/${name}/checks.json`)))
    );
  if (scenarios.length === 0) throw new Error(`${suite} ran nothing: ${stdout}${stderr}`);
  return [...scenarios, ...missing(scenarios)];
}

function judged(folder: string, checks: readonly Check[]): Scenario {
  const name = folder.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT.*$/, "");
  const failures = checks.filter(({ status }) => status === "FAILURE");
  const failed = failures.filter((check) => !isNotOurs(name, check));
  return {
    name,
    passed: checks.filter(({ status }) => status === "SUCCESS").length,
    notOurs: failures.length - failed.length,
    failed: failed.map(({ id, errorMessage }) => `${id}: ${errorMessage ?? "failed"}`),
  };
}

function isNotOurs(scenario: string, { id, errorMessage = "" }: Check): boolean {
  if (ABOUT_FIXTURES.has(id) || FIXTURE_MISSING.test(errorMessage)) return true;
  return UNDECLARED.test(scenario) && UNDECLARED_WORDS.test(errorMessage);
}

/** A suite that renamed or skips scenarios must not look like a success. */
function missing(scenarios: readonly Scenario[]): Scenario[] {
  const seen = new Set(scenarios.filter(({ passed }) => passed > 0).map(({ name }) => name));
  return FOR_ALL.filter((name) => !seen.has(name)).map((name) => (
    { name, passed: 0, notOurs: 0, failed: ["it was not run, or passed no check"] }
  ));
}

interface Proxy extends Disposable {
  readonly url: string;
}

/** Starts a proxy for the web listener at `target`. */
export async function authorizingProxy(target: string, token: string): Promise<Proxy> {
  const { hostname, port } = new URL(target);
  const server = http.createServer((request, response) => {
    const { url, method, headers } = request;
    const onward = http.request({
      hostname,
      port,
      path: url,
      method,
      headers: { ...headers, authorization: `Bearer ${token}` },
    }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    request.pipe(onward);
  });
  const listening = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", () => listening.resolve());
  await listening.promise;
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
