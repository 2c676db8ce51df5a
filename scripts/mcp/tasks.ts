/**
 * Five typical tasks for agents, done with the official SDK's client. Counts the calls, and the tokens
 * of arguments and answers as characters ÷ 3.6.
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Client } from "@modelcontextprotocol/client";
import type { TestDaemon } from "../../tests/support/procsup.ts";
import { waitFor } from "../../tests/support/wait_for.ts";

/** Maximum number of calls per task. */
export const MAX_CALLS = 8;

/** Estimates the tokens of a JSON value. */
export function tokens(value: unknown): number {
  return Math.round((typeof value === "string" ? value : JSON.stringify(value)).length / 3.6);
}

/** Counts the calls of a client. */
export class Agent {
  readonly #client: Client;
  calls = 0;
  tokens = 0;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Calls a tool, which must succeed, and returns its answer. */
  // deno-lint-ignore no-explicit-any
  async use(name: string, args: Record<string, unknown> = {}): Promise<any> {
    const result = await this.#client.callTool({ name, arguments: args });
    const [content] = result.content;
    const text = content?.type === "text" ? content.text : "";
    this.calls++;
    this.tokens += tokens({ name, args }) + tokens(text);
    if (result.isError) throw new Error(`${name}: ${text}`);
    return result.structuredContent;
  }
}

/** A task. It throws if its goal is not reached. */
export interface Task {
  readonly name: string;
  readonly run: (agent: Agent) => Promise<void>;
}

/** The tasks. They need the apps of `setTheScene()`. */
export const TASKS: readonly Task[] = [
  {
    name: "find and fix a failing app",
    async run(agent) {
      const { processes } = await agent.use("list_apps");
      const [{ name: target }] = processes.filter(({ state }: App) => state !== "running");
      const { processes: [why] } = await agent.use("get_status", { target });
      assertMatch(JSON.stringify(why), /PORT is not set/);
      await agent.use("update_app", { target, config: { env: { PORT: "8080" } } });
      await agent.use("restart_app", { target });
      const { processes: [app] } = await agent.use("get_status", { target });
      assertEquals([app.name, app.state, app.ready], ["api", "running", true]);
    },
  },
  {
    name: "deploy with new settings",
    async run(agent) {
      const target = "shop";
      const { processes: before } = await agent.use("list_apps", { target });
      const config = { env: { LEVEL: "debug" }, max_memory: "300MB" };
      assertEquals((await agent.use("update_app", { target, config })).status, "reloaded");
      await agent.use("wait_for", { target });
      const { processes } = await agent.use("get_status", { target });
      assertEquals(processes.length, before.length);
      for (const { config, state } of processes) {
        assertEquals([config.max_memory, state], ["300MB", "running"]);
      }
    },
  },
  {
    name: "set up a cron job",
    async run(agent) {
      const cron = { schedule: "0 4 * * *", timezone: "Europe/Berlin", timeout: "10m" };
      const target = "backup";
      await agent.use("start_app", { name: target, entrypoint: "/bin/true", config: { cron } });
      await agent.use("run_job", { target });
      await agent.use("wait_for", { target, for: "exit" });
      const { jobs: [job] } = await agent.use("list_jobs", { target });
      assertEquals([job.schedule, job.enabled, job.last_status], ["0 4 * * *", true, "ok"]);
    },
  },
  {
    name: "check the memory usage of the last hour",
    async run(agent) {
      const { series } = await agent.use("get_metrics", { target: "all", since: "1h" });
      const shop = series.find(({ name }: { name: string }) => name === "shop:0");
      assert(shop.memory_bytes_max > 0);
    },
  },
  {
    name: "errors of all apps since yesterday",
    async run(agent) {
      const { patterns } = await agent.use("search_logs", {
        ...{ since: "yesterday", level: "error", group_similar: true },
      });
      const counts = new Map(patterns.map(({ name, count }: Found) => [name, count]));
      for (const { name } of APPS) assertEquals(counts.get(name), ERRORS);
      assert(counts.has("api"));
    },
  },
];

interface App {
  readonly state: string;
}

interface Found {
  readonly name: string;
  readonly count: number;
}

const ERRORS = 60;
const APPS = Array.from({ length: 28 }, (_, index) => ({ name: `worker-${index}` }));

/**
 * Starts 31 processes: `api` fails because a variable is missing, `shop` has two instances, and the
 * others write errors.
 */
export async function setTheScene(daemon: TestDaemon): Promise<void> {
  const quick = { min_uptime: "10ms" };
  const needy = '[ -n "$PORT" ] || { echo "Error: PORT is not set" >&2; exit 1; }; exec sleep 1000';
  await daemon.startScript("api", needy, { ...quick, restart_policy: "never" });
  await daemon.startScript("shop", "exec sleep 1000", { ...quick, instances: 2 });
  const errors = `for i in $(seq ${ERRORS}); do echo "ERROR order $i failed after $i ms"; done`;
  for (const { name } of APPS) {
    await daemon.startScript(name, `${errors}; exec sleep 1000`, quick);
  }
  const areWritten = async () => {
    const { patterns = [] } = await daemon.client.call("search_logs", { group_similar: true });
    return patterns.filter(({ count }) => count === ERRORS).length === APPS.length;
  };
  await waitFor(areWritten, { what: "all errors are written" });
  const isMeasured = async () => {
    const { series } = await daemon.client.call("metrics_history", { target: "shop:0" });
    return series.some(({ points }) => points.length > 0);
  };
  await waitFor(isMeasured, { what: "the first reading of the history", timeoutMs: 60_000 });
}
