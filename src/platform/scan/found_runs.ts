/** Finds runs without a record by their living wrappers. */

import type { Run } from "../../model/process_state.ts";
import { dirname } from "@std/path";
import { givenProgram, type OtherUser } from "../users/as_user.ts";
import { isFree } from "../files/lock.ts";
import { pathsIn } from "../files/paths.ts";
import { textsOf, variablesOf } from "./process_environment.ts";
import { processesByRunId } from "./process_scan.ts";
import { processRow, readProc } from "./process_table.ts";
import type { RunFiles } from "../launch/run_files.ts";
import { lookAt } from "../files/stat.ts";
import { parseWrapperWords, type WrapperWords } from "../launch/wrapper.ts";

/** A run, reconstructed from its processes. */
export interface FoundRun {
  readonly run: Run;
  /** Pid of the app; 0 while it is not known. */
  readonly pid: number;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly name: string;
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The user and the group that the app runs as, if not ours. */
  readonly user?: OtherUser;
}

/** All runs of the home of `files` whose wrapper is alive, except the known ones. */
export async function findRuns(
  files: RunFiles,
  bootId: string,
  known: ReadonlySet<string>,
): Promise<FoundRun[]> {
  const found: FoundRun[] = [];
  for (const [runId, pids] of await processesByRunId()) {
    if (known.has(runId)) continue;
    for (const pid of pids) {
      const run = foundRun(files, { runId, pid, bootId });
      if (run !== undefined) found.push(run);
    }
  }
  return found;
}

function foundRun(
  files: RunFiles,
  { runId, pid: wrapperPid, bootId }: { runId: string; pid: number; bootId: string },
): FoundRun | undefined {
  try {
    // Another user could fake these arguments to make us run their program.
    if (!isOurs(wrapperPid)) return undefined;
    const words = parseWrapperWords(textsOf(`/proc/${wrapperPid}/cmdline`));
    const row = processRow(wrapperPid);
    // For a moment the app's own process has the same arguments, but it leads no group.
    if (words?.folder !== files.folder || row?.pgid !== wrapperPid || row.zombie) return undefined;
    const logs = ownLogs(words, pathsIn(dirname(files.folder)).apps);
    const pid = files.read(runId, "pid") ?? 0;
    const { argv, ...given } = givenProgram({
      argv: words.command,
      env: environmentOf(runId, wrapperPid, pid),
      cwd: Deno.readLinkSync(`/proc/${wrapperPid}/cwd`),
    });
    return {
      run: { runId, wrapperPid, wrapperStart: row.start, bootId, ...logs },
      pid,
      startedAt: files.writtenAt(runId, "pid").getTime(),
      name: words.name,
      command: commandOf(argv, pid),
      ...given,
    };
  } catch {
    // It ended meanwhile.
    return undefined;
  }
}

/**
 * Whether our user started a process: all its ids are ours, and it is not in a container, where root
 * is another user. The files in /proc of a program with the setuid bit, which another user may have
 * started, are root's, too. Throws if it has ended.
 */
function isOurs(pid: number): boolean {
  const [, ids] = /^Uid:\t(.*)$/m.exec(readProc(`/proc/${pid}/status`) ?? "") ?? [];
  const [its, ours] = [pid, "self"].map((one) => Deno.readLinkSync(`/proc/${one}/ns/pid`));
  return its === ours && ids?.split("\t").every((id) => Number(id) === Deno.uid()) === true;
}

/** The home whose living daemon has this run, if that is not the home of `files`, but a copy of it. */
export function homeElsewhere(run: Run, files: RunFiles): string | undefined {
  const words = parseWrapperWords(textsOf(`/proc/${run.wrapperPid}/cmdline`));
  if (words === undefined || words.folder === files.folder) return undefined;
  const home = dirname(words.folder);
  const [theirs, ours] = [home, dirname(files.folder)].map((path) => lookAt(pathsIn(path).lock));
  // The same home may have two paths.
  const isSame = theirs?.ino === ours?.ino && theirs?.dev === ours?.dev;
  return isSame || isFree(pathsIn(home).lock) ? undefined : home;
}

/** The logs of a run that are outside the home. */
function ownLogs({ name, stdout, stderr }: WrapperWords, apps: string): Pick<Run, "logs"> {
  const isOwn = (path: string) => dirname(path) !== `${apps}/${name}`;
  if (!isOwn(stdout) && !isOwn(stderr)) return {};
  return { logs: { ...isOwn(stdout) && { stdout }, ...isOwn(stderr) && { stderr } } };
}

/** The app's command, without the programs that set something up before it. */
function commandOf(command: readonly string[], pid: number): readonly string[] {
  const own = textsOf(`/proc/${pid}/cmdline`);
  const end = command.slice(command.length - own.length);
  const isShown = own.length > 0 && own.every((word, index) => word === end[index]);
  return isShown ? own : command;
}

/** The app's environment, or the wrapper's if the app has overwritten its own. */
function environmentOf(runId: string, wrapperPid: number, pid: number): Record<string, string> {
  const own = variablesOf(textsOf(`/proc/${pid}/environ`));
  const isShown = own.PROCSUP_RUN_ID === runId && own.PROCSUP_NAME !== undefined;
  return isShown ? own : variablesOf(textsOf(`/proc/${wrapperPid}/environ`));
}
