/** Runs a job to its end. */

import type { ProcessConfigInput } from "../model/config_input.ts";
import { hasCode, ProcsupError } from "../model/errors.ts";
import { inputKeys } from "../model/key_spelling.ts";
import type { LogStream } from "../model/log_line.ts";
import { isMap, onlyGiven } from "../model/merge_patch.ts";
import { nameFromPath } from "../model/name.ts";
import { commandOf } from "../model/shell_line.ts";
import type { ProcessInfo } from "../model/process_info.ts";
import type { CallOptions, JobInput, JobResult, RunOptions, WaitOptions } from "./options.ts";

/** A registered job. */
interface Job extends AsyncDisposable {
  readonly id: string;
  flush(options: CallOptions): Promise<void>;
  start(options: CallOptions): Promise<void>;
  wait(options: WaitOptions): Promise<ProcessInfo>;
}

/** Where jobs run. */
interface JobHost {
  list(options?: CallOptions): readonly ProcessInfo[] | Promise<readonly ProcessInfo[]>;
  add(config: ProcessConfigInput, options?: CallOptions): Promise<Job>;
}

/** Runs a job. It is registered while it runs; its log stays until the next job of its name. */
export async function runJob(
  host: JobHost,
  job: JobInput,
  { signal, timeout }: RunOptions,
  outputOf: (id: string, stream: LogStream, options: CallOptions) => Promise<string>,
): Promise<JobResult> {
  const options = { signal };
  refuseForeign(job);
  const process = await added(host, { restartPolicy: "never", ...job });
  // Not `await using`: Node.js 22 does not support it.
  try {
    // Remove output of an earlier job of this name.
    await process.flush(options);
    await process.start(options);
    const { lastExit } = await process.wait({ for: "exit", timeout, signal });
    const textOf = async (stream: LogStream) =>
      (await outputOf(process.id, stream, options)).replace(/\r?\n$/, "");
    return {
      code: lastExit?.code ?? null,
      stdout: await textOf("stdout"),
      stderr: await textOf("stderr"),
    };
  } finally {
    await process[Symbol.asyncDispose]();
  }
}

/** A job runs once, at once, and its log is emptied before. */
function refuseForeign(job: JobInput): void {
  const { cron, cron_restart: cronRestart, instances, log } = inputKeys(job);
  const { stdout, stderr } = isMap(log) ? log : {};
  const given = { cron, cronRestart, instances, "log.stdout": stdout, "log.stderr": stderr };
  const [field] = Object.keys(onlyGiven(given));
  if (field === undefined) return;
  const message = `run() takes no ${field}: it runs one process once and returns its output`;
  throw new ProcsupError("invalid_config", message);
}

/** Registers a job. Without a name it gets the first free one. */
async function added(host: JobHost, { name, ...config }: JobInput): Promise<Job> {
  if (name !== undefined) return await host.add({ ...config, name } as ProcessConfigInput);
  const base = nameFromPath(programOf(config));
  const taken = new Set((await host.list()).map(({ name }) => name));
  for (let number = 1;; number++) {
    const free = `${base}-${number}`;
    if (taken.has(free)) continue;
    try {
      return await host.add({ ...config, name: free } as ProcessConfigInput);
    } catch (error) {
      // Another job took the name meanwhile.
      if (!hasCode(error, "name_taken")) throw error;
    }
  }
}

function programOf({ entrypoint, script, binary, command }: JobInput): string {
  const program = entrypoint ?? script ?? binary ??
    (typeof command === "string" ? commandOf(command).entrypoint : undefined);
  return typeof program === "string" ? program : "job";
}
