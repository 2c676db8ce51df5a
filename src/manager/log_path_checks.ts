/** Checks the paths of log files in configurations. */

import { ifPossible } from "../model/errors.ts";
import { type LogPaths, logPathTemplates, oneForMany } from "../model/log_paths.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import { basename, dirname } from "../npm/path.js";
import { sharedFileProblem } from "../platform/way.ts";
import { refuse } from "../runtimes/refusal.ts";

type Configured = Pick<ProcessConfig, "name" | "cwd" | "log" | "instances" | "tty">;

/**
 * Throws `invalid_config` for a log path that another user could replace, that is in the home, or
 * that is the path of another log.
 */
export function checkLogPaths(config: Configured, others: Iterable<Configured>, home: string) {
  const { name, log } = config;
  const own = ownPaths(config);
  const merged = own.stdout !== undefined && own.stdout === own.stderr;
  if (merged && log.pipe) {
    refuse(name, "log.pipe needs two files: log.stdout and log.stderr are one");
  }
  for (const [stream, path] of Object.entries(own)) {
    const key = `log.${stream} "${path}"`;
    if (path.startsWith(`${home}/`)) refuse(name, `${key} is in the home, which has its own files`);
    const problem = sharedFileProblem(instanceOf(path));
    if (problem !== undefined) refuse(name, `${key} is not safe to write to: ${problem}`, SAFE);
  }
  if (!merged && overlap(own.stdout, own.stderr)) {
    refuse(name, "log.stdout and log.stderr would share a file for some instances");
  }
  const [taken] = takenLogs(config, others, own);
  if (taken !== undefined) refuse(name, `log "${taken.path}" belongs to "${taken.owner}"`);
}

/** Throws `invalid_config` if several instances would write to one file. */
export function refuseOneForMany(config: Configured): void {
  const shared = oneForMany(config);
  if (shared === undefined) return;
  const { key, path, problem } = shared;
  refuse(config.name, `log.${key} "${path}" ${problem}`, "Put {instance} into the path");
}

const SAFE = "Every folder above a log must belong to root or to the daemon's user, and no other " +
  "user may write to it";

function ownPaths(config: Configured): LogPaths {
  return Object.fromEntries(
    Object.entries(logPathTemplates(config)).map(([stream, path]) => [stream, canonical(path)]),
  );
}

/** The log paths of a configuration that are logs of other processes, and the names of those. */
export function* takenLogs(
  config: Configured,
  others: Iterable<Configured>,
  own = ownPaths(config),
): Generator<{ readonly path: string; readonly owner: string }, void> {
  const paths = Object.values(own);
  if (paths.length === 0) return;
  for (const other of others) {
    if (other.name === config.name) continue;
    const theirs = Object.values(logPathTemplates(other));
    const path = paths.find((path) => theirs.some((taken) => isSame(path, taken)));
    if (path !== undefined) yield { path, owner: other.name };
  }
}

const INSTANCE = "{instance}";

function instanceOf(template: string): string {
  return template.replaceAll(INSTANCE, "0");
}

/** True if two templates give the same file for some instances. */
function overlap(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  return matches(one, instanceOf(other)) || matches(other, instanceOf(one));
}

function matches(template: string, path: string): boolean {
  if (!template.includes(INSTANCE)) return template === path;
  const parts = template.split(INSTANCE).map((part) => part.replace(/[^\w/]/g, "\\$&"));
  return new RegExp(`^${parts.join("\\d+")}$`).test(path);
}

/** Compares the file names first: following links takes system calls for each pair of logs. */
function isSame(path: string, taken: string): boolean {
  return overlap(basename(path), basename(taken)) && overlap(path, canonical(taken));
}

/** A template whose folder has its symbolic links resolved. */
function canonical(path: string): string {
  return ifPossible(() =>
    `${Deno.realPathSync(dirname(path)).replace(/\/$/, "")}/${basename(path)}`
  ) ?? path;
}
