/** Tries every tool and resource with the MCP inspector's command line, as developers of agents do. */

import { runPackage } from "./package.ts";

export const INSPECTOR = "@modelcontextprotocol/inspector@2.12.0";

/** A call of the inspector: its arguments, and what the answer must contain. */
export interface Try {
  readonly args: readonly string[];
  readonly wants: RegExp;
}

const tool = (name: string, wants: RegExp, ...pairs: string[]): Try => ({
  args: [
    "--method",
    "tools/call",
    "--tool-name",
    name,
    ...(pairs.length > 0 ? ["--tool-arg", ...pairs] : []),
  ],
  wants,
});

const resource = (uri: string, wants: RegExp): Try => ({
  args: ["--method", "resources/read", "--uri", uri],
  wants,
});

const CRON = 'config={"cron":"@daily"}';

/** Calls of every tool and resource. They need a running app `web`, and clean up after themselves. */
export const TRIES: readonly Try[] = [
  { args: ["--method", "tools/list"], wants: /"resurrect_processes"/ },
  { args: ["--method", "resources/list"], wants: /"metrics:\/\/web"/ },
  { args: ["--method", "resources/templates/list"], wants: /"logs:\/\/\{name\}"/ },
  resource("apps://list", /web/),
  resource("apps://web", /running/),
  resource("logs://web", /hello/),
  resource("metrics://web", /memory_bytes/),
  tool("list_apps", /"name": "web"/),
  tool("get_status", /"state": "running"/, "target=web"),
  tool("get_logs", /"logs": "hello\\n"/, "target=web", "lines=1"),
  tool("start_app", /"status": "started"/, "entrypoint=/bin/sleep", 'args=["1000"]', "name=extra"),
  tool("restart_app", /"status": "restarted"/, "target=extra"),
  tool("reload_app", /"status": "reloaded"/, "target=extra"),
  tool("stop_app", /"status": "stopped"/, "target=extra", "timeout=2s"),
  tool("save_state", /"count": 2/),
  tool("delete_app", /"status": "deleted"/, "target=extra"),
  tool("resurrect_processes", /"count": 1/),
  tool("get_status", /is stopped/, "target=extra"),
  tool("get_events", /"type": "added"/, "target=extra"),
  tool("get_metrics", /"series"/, "target=all"),
  tool("search_logs", /"line": "hello"/, "targets=web"),
  tool("wait_for", /"state": "running"/, "target=web"),
  tool("update_app", /"status": "changed"/, "target=extra", 'config={"tags":["new"]}'),
  tool("scale_app", /"status": "scaled"/, "target=extra", "instances=2"),
  tool("reload_app", /"status": "reloaded"/, "target=extra", "batch_size=1"),
  tool("start_app", /scheduled|stopped/, "entrypoint=/bin/true", "name=job", CRON),
  tool("run_job", /"status": "running"/, "target=job"),
  tool("list_jobs", /"schedule": "@daily"/),
  tool("delete_app", /"status": "deleted"/, "target=job"),
  { args: ["--method", "prompts/list"], wants: /"review-config"/ },
  tool("delete_app", /"status": "deleted"/, "target=extra"),
];

/** Makes all calls against a server. Returns messages about those that failed. */
export async function inspect(target: readonly string[], folder: string): Promise<string[]> {
  const problems: string[] = [];
  for (const { args, wants } of TRIES) {
    const ran = await runPackage(INSPECTOR, ["--cli", ...target, ...args], folder);
    if (ran.code === 0 && wants.test(ran.stdout)) continue;
    problems.push(
      `${args.join(" ")}: code ${ran.code}, ${(ran.stdout + ran.stderr).slice(0, 500)}`,
    );
  }
  return problems;
}
