// deno-lint-ignore-file no-console

/**
 * Imports the real configuration files that src/import/tests/corpus.tsv lists (tool, repository,
 * commit, path), and runs the results with stub programs. The files are not in this repository: the
 * argument is a folder that has each file as OWNER+NAME/PATH.
 *
 *     deno run -A scripts/import_corpus.ts FOLDER [TOOL]
 */

import { dirname, join } from "@std/path";
import { importFile } from "../src/import/import_file.ts";
import { loadConfig } from "../src/config/load_config.ts";
import type { ProcessConfig } from "../src/model/process_config.ts";
import { TestDaemon } from "../tests/support/procsup.ts";
import { waitFor } from "../tests/support/wait_for.ts";

interface Row {
  readonly tool: string;
  readonly name: string;
  readonly file: string;
}

const env = { PATH: Deno.env.get("PATH")!, HOME: "/nonexistent" };

function rows(folder: string, only: string | undefined): Row[] {
  const table = new URL("../src/import/tests/corpus.tsv", import.meta.url);
  const lines = Deno.readTextFileSync(table).trim().split("\n").map((line) => line.split("\t"));
  return lines.map(([tool, repository, _commit, path]) => ({
    tool: tool!,
    name: `${repository}/${path}`,
    file: join(folder, repository!.replace("/", "+"), path!),
  })).filter(({ tool }) => only === undefined || tool === only);
}

/** Reports readiness and keeps running, with any PATH. */
const STUB = 'echo READY=1 > "${PROCSUP_READY_FILE:-/dev/null}"; exec /bin/sleep 1000';

/** Imports the file of a row. Throws if it is rejected. */
async function imported({ tool, file }: Row): Promise<readonly ProcessConfig[]> {
  const { yaml } = await importFile(file, { tool, env, findings: () => Promise.resolve([]) });
  const content = { file: join(dirname(file), "procsup.yaml"), text: yaml };
  const request = { files: [content.file], content, env, assumeVariables: true };
  return (await loadConfig(request)).processes.map(({ config }) => config);
}

/** The same processes, with a stub in place of each program, and short times. */
function stubs(configs: readonly ProcessConfig[]): Record<string, unknown> {
  const ends = new Set(
    configs.flatMap(({ dependsOn }) =>
      Object.entries(dependsOn).filter(([, state]) => state.startsWith("completed"))
        .map(([name]) => name)
    ),
  );
  return Object.fromEntries(configs.map((config) => {
    const { name, args, env, dependsOn, namespace, priority, restartPolicy, autostart } = config;
    const check = { type: "command", command: "true", interval: "50ms" };
    return [
      name,
      literal({
        entrypoint: "/bin/sh",
        args: ["-c", ends.has(name) ? "exit 0" : STUB, config.entrypoint, ...args],
        ...{ env, namespace, priority, autostart, depends_on: dependsOn, cwd: "/tmp" },
        restart_policy: ends.has(name) && restartPolicy === "always" ? "on-failure" : restartPolicy,
        ...{ instances: Math.min(2, config.instances), wait_ready: config.waitReady },
        ...{ min_uptime: "50ms", stop_timeout: "1s", stop_signal: "SIGKILL" },
        ...(config.readyLog === undefined ? {} : { ready_delay: "10ms" }),
        ...(config.healthCheck === undefined ? {} : { health_check: check }),
        ...(config.cron === undefined ? {} : { cron: config.cron.schedule }),
      }),
    ];
  }));
}

/** Escapes `${` and `$$`, so that no variables are filled in. */
function literal<T>(value: T): T {
  return JSON.parse(JSON.stringify(value).replace(/\$(?=[${])/g, "$$$$"));
}

/** Runs the stubs until each is up, or has exited as expected. Returns their number. */
async function run(daemon: TestDaemon, configs: readonly ProcessConfig[]): Promise<number> {
  const resting = new Set(
    configs.filter(({ autostart, cron }) => !autostart || cron !== undefined)
      .map(({ name }) => name),
  );
  await daemon.client.call("start_all", { config: { processes: stubs(configs) } });
  let count = 0;
  await waitFor(async () => {
    const list = await daemon.client.call("list");
    count = list.length;
    return count >= configs.length &&
      list.every(({ name, state, last_exit }) =>
        state === "running" || resting.has(name.replace(/:\d+$/, "")) ||
        (state === "stopped" && last_exit?.code === 0)
      );
  }, { what: "all stubs to run" });
  await daemon.client.call("delete", "all");
  return count;
}

const [folder, only] = Deno.args;
if (folder === undefined) throw new Error("name the folder of the files");
const counts = new Map<string, { imported: number; refused: number; processes: number }>();
const failed: string[] = [];
{
  await using daemon = await TestDaemon.start();
  for (const row of rows(folder, only)) {
    const count = counts.get(row.tool) ?? { imported: 0, refused: 0, processes: 0 };
    counts.set(row.tool, count);
    const configs = await imported(row).catch((error) => {
      console.log(`refused  ${row.tool}  ${row.name}\n  ${error.message.replaceAll(folder, "")}`);
    });
    if (configs === undefined) count.refused++;
    else {
      count.imported++;
      count.processes += await run(daemon, configs).catch(async (error) => {
        const list = await daemon.client.call("list");
        const states = list.map(({ name, state, last_exit }) =>
          `${name} ${state} ${last_exit?.code}`
        );
        failed.push(`${row.name}: ${error.message}: ${states.join("; ")}`);
        await daemon.client.call("delete", "all");
        return 0;
      });
    }
  }
}
console.table(Object.fromEntries(counts));
for (const failure of failed) console.log(`failed  ${failure}`);
if (failed.length > 0) Deno.exit(1);
