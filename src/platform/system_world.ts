/** The real world behind supervised processes. */

import type { AppStdin } from "./launch/app_input.ts";
import { LaunchThrottle } from "./launch/launch_throttle.ts";
import { type Clock, systemClock } from "./clock.ts";
import { Launcher } from "./launch/launcher.ts";
import { cleanUpOrphans, isInGroup, terminateRun, wrapperAlive } from "./scan/process_group.ts";
import type { HomePaths } from "./files/paths.ts";
import { connectToRun, type Meetings } from "./launch/run_connection.ts";
import { NoticeLog } from "./launch/notice_log.ts";
import { ReadyFiles, RunFiles } from "./launch/run_files.ts";
import { Secrets } from "./launch/secrets.ts";
import { unusedForMs } from "./scan/listening_ports.ts";
import { sendSignal } from "./scan/signals.ts";
import { inheritedEnvironment } from "./launch/inherited_environment.ts";
import { MemoryGuard } from "./scan/usage.ts";
import type { World } from "./world.ts";

/** The world of one home, and the parts of it that recovery needs as well. */
export interface SystemWorld {
  readonly world: World;
  readonly files: RunFiles;
  readonly ready: ReadyFiles;
  readonly launcher: Launcher;
  close(): void;
}

/** The operating system as the processes of a home see it. */
export function systemWorld(
  paths: HomePaths,
  { clock = systemClock, stdin = false }: {
    clock?: Clock | undefined;
    stdin?: AppStdin | undefined;
  },
): SystemWorld {
  const files = new RunFiles(paths.run);
  const launcher = new Launcher(files);
  const ready = new ReadyFiles(files);
  const launches = new LaunchThrottle(`${paths.home}/sock.turn`);
  const memory = new MemoryGuard(clock);
  const notices = new Map<string, NoticeLog>();
  const inherited = inheritedEnvironment();
  const meetings: Meetings = new Map();
  const world: World = {
    clock,
    random: Math.random,
    bootId: launcher.bootId,
    inherited,
    secrets: new Secrets(inherited),
    apps: paths.apps,
    stdin,
    get busyLaunching() {
      return launches.full;
    },
    launch: (spec) => launches.work(() => launcher.launch(spec)),
    adopt: (run, sockets, note) => launcher.adopt(run, sockets, note),
    follow: (run) => launcher.follow(run),
    dropSockets: (owner, used) => launcher.dropSockets(owner, used),
    awaitConnection: (sockets, act, failed) => launcher.awaitConnection(sockets, act, failed),
    unusedForMs: ({ addresses }) => unusedForMs(addresses),
    hasEnded: (runId) => launcher.hasEnded(runId),
    exitOf: (runId) => launcher.exitOf(runId),
    readyFile: (runId, user) => ready.path(runId, user),
    whenReady: (runId, act) => ready.when(runId, act),
    notifySocket: (runId, forOther) => files.socketPath(runId, forOther),
    notices: (run) => {
      if (!run.notify) return undefined;
      const known = notices.get(run.runId);
      if (known !== undefined) return known;
      const log = new NoticeLog(
        files,
        run.runId,
        files.socketPath(run.runId, run.user !== undefined),
      );
      notices.set(run.runId, log);
      return log;
    },
    limitMemory: (run, bytes, exceeded) => memory.limit(run, bytes, exceeded),
    connect: (target, signal) => connectToRun(target, signal, meetings),
    forget: (runId) => {
      notices.get(runId)?.close();
      notices.delete(runId);
      ready.forget(runId);
      launcher.forget(runId);
    },
    // While the wrapper lives, the app's pid cannot be reused: only the wrapper can reap it.
    signal: (run, pid, signal) =>
      (wrapperAlive(run) || isInGroup(pid, run)) && sendSignal(pid, signal),
    terminate: (run, way, deadline, progress) =>
      terminateRun(run, { ...way, main: launcher.pidOf(run) }, deadline, progress),
    cleanUpOrphans: (run, way, deadline) =>
      cleanUpOrphans(run, { ...way, main: launcher.pidOf(run) }, deadline),
  };
  const close = () => {
    void launcher.close();
    files.close();
    ready.close();
  };
  return { world, files, ready, launcher, close };
}
