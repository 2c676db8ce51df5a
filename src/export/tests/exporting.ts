/** Configurations for the export tests: those of the documentation, and one for each key. */

import { parse } from "yaml";
import { loadConfig } from "../../config/load_config.ts";
import type { Engine } from "../engines.ts";
import { type Exported, exportStack } from "../export_stack.ts";
import type { ExportRequest } from "../stack.ts";
import { examplesIn } from "../../../tests/docs/examples.ts";

/** A folder with the programs that the files name. */
const FOLDER = Deno.makeTempDirSync({ prefix: "shop-" });
for (const name of ["run.sh", "other.sh"]) Deno.writeTextFileSync(`${FOLDER}/${name}`, "");
Deno.mkdirSync(`${FOLDER}/api`);
addEventListener("unload", () => Deno.removeSync(FOLDER, { recursive: true }));

/** Exports a YAML text as a file of that folder. */
export async function exportText(
  text: string,
  to: ExportRequest["to"],
  more: Partial<ExportRequest> = {},
): Promise<Exported> {
  const file = `${FOLDER}/procsup.yaml`;
  const loaded = await loadConfig({
    ...{ files: [file], content: { file, text }, env: {}, assumeVariables: true },
  });
  return exportStack({ to, file, loaded, ...more });
}

/** The text of all files. */
export async function exportedText(text: string, to: Engine): Promise<string> {
  return (await exportText(text, to)).files.map((file) => file.text).join("\n");
}

/** A file with one app. */
function appFile(keys: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ processes: { app: { command: "/bin/sh run.sh", ...keys } } });
}

/** Complete files of the documentation that need no variables for the export. */
export function documentedFiles(): string[] {
  return examplesIn("yaml").map(({ text }) => text).filter((text) => {
    const value = parse(text, { merge: true });
    return value.processes !== undefined || value.cron !== undefined;
  });
}

/** For each key, a value other than its default. */
export const SAMPLES: Readonly<Record<string, unknown>> = {
  entrypoint: "/bin/echo",
  args: ["one"],
  cwd: "api",
  runtime: "deno",
  interpreter: "/bin/sh",
  use_bundle: true,
  stdin: true,
  tty: true,
  env: { COLOR: "blue" },
  env_file: "app.env",
  secrets: { PW: { env: "SHOP_PW" } },
  inherit_env: ["LANG"],
  shell_env: { LANG: "C" },
  increment_env: ["PORT"],
  instances: 3,
  sockets: ["8080"],
  start_on: "connection",
  idle_timeout: "10m",
  namespace: "front",
  tags: ["web"],
  labels: { team: "a" },
  depends_on: ["other"],
  priority: 3,
  autostart: false,
  restart_policy: "never",
  max_restarts: 3,
  restart_window: "90s",
  restart_delay: "2s",
  backoff_max: "5m",
  min_uptime: "7s",
  success_exit_codes: [0, 7],
  max_memory: "64MB",
  max_age: "24h",
  cron_restart: "0 4 * * *",
  watch: ["src"],
  stop_signal: "SIGINT",
  stop_mode: "main",
  stop_timeout: "33s",
  reload_signal: "SIGHUP",
  overlap: true,
  wait_ready: true,
  listen_timeout: "95s",
  ready_log: "listening",
  ready_delay: "3s",
  notify: true,
  watchdog: "30s",
  health_check: { type: "tcp", tcp_endpoint: "127.0.0.1:8080" },
  alerts: ["cpu > 80%"],
  uid: "nobody",
  gid: "nogroup",
  umask: "077",
  nice: 5,
  no_new_privs: true,
  private_tmp: true,
  read_only: true,
  writable: ["/var/lib"],
  log: { max_files: 2 },
  "cron.schedule": "0 4 * * *",
  "cron.timezone": "Europe/Berlin",
  "cron.overlap": "kill",
  "cron.timeout": "10m",
  "cron.random_delay": "5m",
  "cron.catch_up": "once",
  "cron.enabled": false,
  "limits.nofile": 4096,
  "limits.nproc": 100,
  "limits.core": "1MB",
  "limits.address_space": "1GB",
  "limits.file_size": "1GB",
  "limits.memory": "256MB",
  "limits.memory_high": "200MB",
  "limits.cpu_percent": 50,
  "limits.cpu_weight": 50,
  "limits.io_max": "8:0 rbps=1048576",
  "limits.pids": 64,
  ...Object.fromEntries(
    ["start", "stop", "restart", "reload", "healthcheck"].flatMap((point) =>
      ["pre", "post"].map((when) => [`hooks.${when}_${point}`, "echo hook"])
    ),
  ),
  ...Object.fromEntries(
    ["crash", "errored", "unhealthy", "alert"].map((event) => [`hooks.on_${event}`, "echo hook"]),
  ),
};

/** Two apps: one with a value for the key, one without. */
export function sampleFiles(key: string): { readonly set: string; readonly unset: string } {
  const [first, second] = key.split(".") as [string, string?];
  const around: Record<string, unknown> = first === "cron" && second !== "schedule"
    ? { cron: { schedule: "5 * * * *" } }
    : {};
  if (key.endsWith("healthcheck")) around.health_check = SAMPLES.health_check;
  const inner = { ...around[first] as object, [second ?? ""]: SAMPLES[key] };
  const command = key === "entrypoint" || key === "args" ? { command: undefined } : {};
  const program = key === "args" ? { entrypoint: "/bin/sh" } : {};
  const file = (keys: object) => {
    const { processes: { app } } = JSON.parse(appFile({ ...keys }));
    return JSON.stringify({ processes: { app, other: { command: "/bin/sh other.sh" } } });
  };
  return {
    unset: file(around),
    set: file({
      ...{ ...command, ...program, ...around },
      [first]: second === undefined ? SAMPLES[key] : inner,
    }),
  };
}

/** True if a program succeeds with these arguments. */
export function runs(...words: string[]): boolean {
  try {
    const [program, ...args] = words;
    const { success } = new Deno.Command(program!, { args, stdout: "null", stderr: "null" })
      .outputSync();
    return success;
  } catch {
    return false;
  }
}

/**
 * True if a program succeeds and its help names a flag. Without a subcommand, a program may print
 * another one's help and succeed.
 */
export function takes(flag: string, ...words: string[]): boolean {
  return runs(...words, "--help") && helpOf(words).includes(flag);
}

function helpOf([program, ...args]: readonly string[]): string {
  const { stdout } = new Deno.Command(program!, { args: [...args, "--help"] }).outputSync();
  return new TextDecoder().decode(stdout);
}

/** Prints why a test is skipped; always true. */
export function lacks(program: string): true {
  // deno-lint-ignore no-console
  console.log(`skipped: ${program} is not installed`);
  return true;
}
