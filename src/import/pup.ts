/** Converts pup.json, of Deno's pup. */

import { isMap, mapOf } from "../model/merge_patch.ts";
import { shellCommand } from "../model/shell_line.ts";
import { join } from "@std/path";
import type { ConfigDocument } from "../config/document.ts";
import { ConfigProblem } from "../config/problem.ts";
import {
  convertedKeys,
  handled,
  type ImportContext,
  type Imported,
  type Importer,
  type ImportTable,
  type Keys,
  logFileProblem,
  logFiles,
  lost,
  rowFor,
  seconds,
  unknownInside,
  UNLIMITED,
} from "./imported.ts";
import { ImportResult } from "./import_result.ts";

export const pup: Importer = {
  matches: ({ value }) =>
    isMap(value) && Array.isArray(value.processes) && value.processes.length > 0 &&
    value.processes.every((one) => isMap(one) && typeof one.id === "string"),
  convert,
};

/** Defaults of pup. */
const RESTART_DELAY_MS = 10_000;
const TERMINATE_SECONDS = 30;

const FILE_KEYS: ImportTable<unknown, undefined> = {
  ...handled("$schema", "name", "processes", "terminateTimeout", "terminateGracePeriod", "watcher"),
  api: "procsup web",
  logger: "procsup logs",
  plugins: "webhooks, or procsup web",
};

interface ProcessContext {
  readonly process: Keys;
  readonly folder: string;
  readonly file: Keys;
}

const KEYS: ImportTable<unknown, ProcessContext> = {
  ...handled("id", "pidFile", "restartDelayMs", "restartLimit", "logger"),
  cmd: (value) => shellCommand(String(value)),
  worker: (value) => ({
    entrypoint: "deno",
    args: ["run", ...[value].flat().map(String)],
    lost: "it runs as a process of its own, deno run, with the permissions in its words",
  }),
  cwd: (value) => ({ cwd: String(value) }),
  path: (value) => ({ env: { PATH: String(value) } }),
  env: (value) => ({ env: mapOf(value) as Keys }),
  // Without it, a cron or a watch, pup starts nothing.
  autostart: (value) => value === true ? { autostart: true } : {},
  cron: (value, { process }) => ({
    cron: { schedule: value, overlap: process.overrun === true ? "kill" : "skip" },
    lost: process.autostart === true
      ? "it runs on schedule only, not also at the start"
      : undefined,
  }),
  watch: (value, { process, file }) => ({
    watch: {
      enabled: true,
      paths: [value].flat().map((path) => join(String(process.cwd ?? "."), String(path))),
      ignore: mapOf(file.watcher).skip,
    },
  }),
  cluster: (value) => {
    const { instances, commonPort, startPort } = mapOf(value);
    return {
      instances: instances === 0 ? "max" : instances,
      // Each instance listens on its own port behind pup's balancer.
      ...(commonPort === undefined && startPort === undefined ? {} : {
        lost: "sockets: the instances share a port that procsup opens",
      }),
    };
  },
  restart: (value) => ({
    restart_policy: rowFor({ always: "always", error: "on-failure" }, String(value)),
  }),
  timeout: (value, { process }) =>
    process.cron === undefined
      ? { max_age: seconds(value) }
      : { cron: { timeout: seconds(value) } },
  overrun: (value, { process }) =>
    value === true && process.cron === undefined
      ? { lost: "a run ends before the next starts" }
      : {},
  terminate: "cron_restart restarts it by a schedule; to end it: a job with procsup stop",
  terminateTimeout: (value) => ({ stop_timeout: seconds(value) }),
  terminateGracePeriod: (value) => value ? { lost: "hooks.pre_stop with sleep" } : {},
};

function convert(document: ConfigDocument, context: ImportContext): Imported {
  const { file, value } = document;
  const all = mapOf(value);
  const result = new ImportResult(document, { context });
  const { notes } = convertedKeys(FILE_KEYS, Object.entries(all), undefined);
  result.note(undefined, ...notes);
  const { folder } = result;
  for (const [index, process] of (all.processes as Keys[]).entries()) {
    const path = ["processes", index];
    if (process.cmd === undefined && process.worker === undefined) {
      throw new ConfigProblem(file, `"${process.id}" has no cmd and no worker`);
    }
    const given = { process, folder, file: all as Keys };
    const { keys, notes, origins } = convertedKeys(KEYS, Object.entries(process), given);
    const isStarted = process.autostart === true || process.cron !== undefined ||
      process.watch !== undefined;
    const { stdout, stderr } = mapOf(process.logger);
    const taken = result.add(String(process.id), {
      ...{
        restart_policy: "never",
        stop_timeout: seconds(all.terminateTimeout ?? TERMINATE_SECONDS),
      },
      ...keys,
      ...(isStarted ? { autostart: undefined } : { autostart: false }),
      ...restarts(process),
      ...logFiles({ stdout, stderr, folder }),
    }, { path, keys: origins });
    const logs = { stdout, stderr };
    const unsafe = Object.entries(logs).filter(([, path]) => path !== undefined)
      .flatMap(([stream, path]) => {
        const why = logFileProblem(path, folder);
        return why === undefined ? [] : [lost(["logger", stream], why)];
      });
    const inner = {
      logger: ["stdout", "stderr", "console", "colors", "decorateFiles", "decorate"],
    };
    result.note(taken, ...notes, ...unsafe, ...unknownInside(process, inner));
  }
  return result.imported();
}

function restarts({ restart, restartDelayMs = RESTART_DELAY_MS, restartLimit }: Keys): Keys {
  if (restart === undefined) return {};
  const delay = `${restartDelayMs}ms`;
  return {
    restart_delay: delay,
    backoff_max: delay,
    ...(restartLimit === undefined
      ? UNLIMITED
      : { max_restarts: restartLimit, restart_window: "8760h" }),
  };
}
