/**
 * The official conformance suite, server side. It was written for the SDKs' demonstration servers: most
 * scenarios want a tool, prompt or resource of theirs, or a feature that procsup does not declare
 * (logging, tasks, subscriptions over stateless HTTP). Every other check must pass.
 */

import { runPackage } from "./package.ts";

/** The last one of the 2025 protocols, and the first one that knows 2026-07-28. */
export const SUITES = [
  "@modelcontextprotocol/conformance@0.1.16",
  "@modelcontextprotocol/conformance@0.2.0-alpha.12",
] as const;

/** Scenarios that need nothing of a server but to be one. */
const FOR_ALL = [
  "server-initialize",
  "ping",
  "tools-list",
  "resources-list",
  "prompts-list",
  "dns-rebinding-protection",
];

/** How a check fails for want of the demonstration server's own things. */
const FIXTURE_MISSING =
  /(tool|prompt) '?[\w-]+'? not found|resource not found: \w+:\/\/|not testable/i;

/** Scenarios of features that procsup does not declare, and how their checks fail. */
const UNDECLARED = /^(logging|tasks|caching|resources-(un)?subscribe|tools-call-with-logging)/;
const UNDECLARED_WORDS = /method not found|-32601|MUST be advertised/i;

/** Checks whose words do not tell that they are about the demonstration server's tools and prompts. */
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

/** How one scenario went. */
export interface Scenario {
  readonly name: string;
  readonly passed: number;
  /** Checks that cannot pass here. */
  readonly notOurs: number;
  /** What failed, in words. */
  readonly failed: readonly string[];
}

/** Runs every scenario of a suite against a server; `folder` takes what it writes. */
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

/** A suite that changed its names, or skips what it ought to run, must not look like success. */
function missing(scenarios: readonly Scenario[]): Scenario[] {
  const seen = new Set(scenarios.filter(({ passed }) => passed > 0).map(({ name }) => name));
  return FOR_ALL.filter((name) => !seen.has(name)).map((name) => (
    { name, passed: 0, notOurs: 0, failed: ["it was not run, or passed no check"] }
  ));
}
