/** The logs that targets address: those of the present processes, and of processes that come later. */

import type { LaterSources, LogSource } from "../logs/log_feed.ts";
import type { ManagedProcess } from "../process/managed_process.ts";
import type { Registry } from "./registry.ts";

interface SourceOptions {
  /** Signal of a process that ends its followed log. */
  readonly end: "deleted" | "gone";
  /** Continue with later processes of the same names, whatever the target. */
  readonly byName?: boolean;
}

export interface LogSources {
  readonly now: readonly LogSource[];
  readonly later: LaterSources;
}

/** The logs of targets. Throws like `Registry.resolve()`. */
export function logSources(
  registry: Registry,
  targets: readonly string[],
  { end, byName = false }: SourceOptions,
): LogSources {
  const sourceOf = (process: ManagedProcess): LogSource => {
    return { name: process.name, files: process.logs, gone: process[end] };
  };
  const found = new Set([...new Set(targets)].flatMap((target) => registry.resolve(target)));
  const now = [...found].map(sourceOf);
  const names = new Set(byName ? now.map(({ name }) => name) : []);
  const watch: LaterSources["watch"] = (changes) => {
    const tests = targets.map((target) => registry.matcher(target));
    return registry.watch((process, before) => {
      if (before !== undefined) changes.renamed(before, sourceOf(process));
      else if (names.has(process.name) || tests.some((matches) => matches(process))) {
        changes.added(sourceOf(process));
      }
    });
  };
  const stays = byName || targets.includes("all");
  return { now, later: { watch, ...(stays && { until: registry.closed }) } };
}
