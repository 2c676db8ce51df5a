/** Runs the hooks `on_crash`, `on_errored`, `on_unhealthy` and `on_alert` after events of a process. */

import { messageOf } from "../model/errors.ts";
import { bodyAbout } from "../model/event_body.ts";
import { snakeCase } from "../model/key_table.ts";
import type { HookName } from "../model/process_config.ts";
import type { ProcessChange } from "../model/process_info.ts";
import { hookAfter, reportAt } from "../model/webhook_rules.ts";
import type { ManagedProcess } from "../process/managed_process.ts";
import { explained } from "./last_words.ts";

/** The largest number of hooks of one process that run or wait. */
const MAX_WAITING = 100;

/** The hooks of one process, which run one after the other. */
interface Line {
  /** Resolves when the last one is over. */
  last: Promise<void>;
  /** How many run or wait. */
  length: number;
}

export class EventHooks {
  readonly #lines = new Map<ManagedProcess, Line>();
  /** URL of the dashboard, for links; undefined while it is not served. */
  readonly #dashboard: () => string | undefined;

  constructor(dashboard: () => string | undefined = () => undefined) {
    this.#dashboard = dashboard;
  }

  /** Call it with each event. */
  readonly happened = (process: ManagedProcess, change: ProcessChange): void => {
    const hook = hookAfter(change.type);
    if (hook === undefined || process.config.hooks[hook] === undefined) return;
    const line = this.#lines.getOrInsertComputed(
      process,
      () => ({ last: Promise.resolve(), length: 0 }),
    );
    if (line.length >= MAX_WAITING) {
      return process.note(`${snakeCase(hook)} hook skipped: ${MAX_WAITING} hooks wait before it`);
    }
    line.length++;
    const run = line.last.then(() => this.#run(process, hook, change)).catch((error) =>
      process.note(`${snakeCase(hook)} hook cannot run: ${messageOf(error)}`)
    );
    line.last = run.finally(() => {
      if (--line.length === 0) this.#lines.delete(process);
    });
    process.journal.begun(line.last);
  };

  async #run(process: ManagedProcess, hook: HookName, change: ProcessChange): Promise<void> {
    const body = bodyAbout(reportAt(change.type)!, change, {
      namespace: process.config.namespace,
      host: Deno.hostname(),
      dashboard: this.#dashboard(),
    });
    await process.runHook(hook, JSON.stringify(await explained(body, process)));
  }
}
