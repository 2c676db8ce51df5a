/** The paths of files in the home, and a check that it is safe. */

import { ifPossible, ProcsupError } from "../../model/errors.ts";
import { shellWord } from "../../model/shell_line.ts";
import { isAbsolute, resolve } from "@std/path";
import { clientSystem } from "../client_system.ts";
import { lookAt } from "./stat.ts";
import { wayProblem } from "./way.ts";

/** The paths below `home`. */
export function pathsIn(home: string) {
  return {
    home,
    socket: `${home}/procsup.sock`,
    token: `${home}/token`,
    /** Named tokens, as hashes. */
    tokens: `${home}/tokens.json`,
    lock: `${home}/daemon.lock`,
    /** Locked while one daemon takes over from another. */
    handover: `${home}/handover.lock`,
    /** Locked while a command makes a release. */
    releasing: `${home}/release.lock`,
    daemonLog: `${home}/daemon.log`,
    /** Events of the processes. */
    events: `${home}/events.jsonl`,
    /** Metrics history, a file for each process and one for the host. */
    metrics: `${home}/state/metrics`,
    /** The last health checks, a file for each process. */
    checks: `${home}/state/checks`,
    /** Records of the processes, one file each. */
    records: `${home}/state/processes`,
    /** The lowest numeric id never assigned. */
    numericId: `${home}/state/numeric_id`,
    /** Boot id that the records belong to. */
    boot: `${home}/state/boot`,
    /** States of the cron schedules, one file each. */
    cron: `${home}/state/cron`,
    /** Where the web surface listens. */
    web: `${home}/state/web.json`,
    /** Web sessions, kept across daemon restarts. */
    sessions: `${home}/state/sessions.json`,
    /** The key by which the daemon proves itself to the tabs of its dashboard. */
    webKey: `${home}/state/web_key.json`,
    /** Folder of the webhooks and their pending deliveries. */
    webhooks: `${home}/state/webhooks`,
    /** The alerts of the host, and where all alerts stand. */
    alerts: `${home}/state/alerts.json`,
    /** The configuration files applied last, and the results. */
    configs: `${home}/state/configs.json`,
    /** What `save` writes. */
    saved: `${home}/state/saved.json`,
    /** What the launch wrappers write: pids and exit statuses. */
    run: `${home}/run`,
    apps: `${home}/apps`,
  };
}

/** Every path below a home. */
export type HomePaths = Readonly<ReturnType<typeof pathsIn>>;

/** The daemon's home: `PROCSUP_HOME`, else `~/.procsup`. */
export function defaultHome(): string {
  const given = clientSystem().env("PROCSUP_HOME");
  if (given !== undefined && given !== "") return absolute(given);
  const user = clientSystem().env("HOME");
  if (user === undefined || user === "") {
    throw new ProcsupError(
      "home_unusable",
      "Cannot find a home: neither PROCSUP_HOME nor HOME is set",
    );
  }
  return absolute(`${user}/.procsup`);
}

/** The home that a command is given, else the default one. Throws `home_unusable`. */
export function checkedHome(given?: string): string {
  const home = given === undefined ? defaultHome() : absolute(given);
  // Else another user could make root read any file as the token and send it to their socket.
  if (Deno.uid() === 0) checkWay(home);
  return home;
}

/** The library's default directory: one per user, in the system's temporary folder. */
export function libraryHome(): string {
  return absolute(`${Deno.env.get("TMPDIR") || "/tmp"}/procsup-${Deno.uid() ?? 0}`);
}

/** Makes a path absolute. Only a relative path needs the working directory. */
export function absolute(path: string): string {
  return resolve(isAbsolute(path) ? "/" : clientSystem().cwd(), path);
}

/**
 * The current directory as the shell names it in `PWD`, with its symbolic links: a link such as
 * `current` may point to another folder when an app is restarted.
 */
export function here(): string {
  const [cwd, named] = [workingDirectory(), Deno.env.get("PWD")];
  if (named === undefined || named === cwd || !isAbsolute(named) || resolve(named) !== named) {
    return cwd;
  }
  const [is, was] = [lookAt(cwd), lookAt(named)];
  return is !== undefined && is.ino === was?.ino && is.dev === was.dev ? named : cwd;
}

function workingDirectory(): string {
  const removed = Deno.env.get("PROCSUP_REMOVED_DIRECTORY");
  const cwd = removed === undefined ? ifPossible(() => Deno.cwd()) : undefined;
  if (cwd !== undefined) return cwd;
  throw new ProcsupError("bad_request", "The current directory was removed", {
    hint: "cd to a directory that exists, or name files by absolute paths",
  });
}

/** Resolves a path of the command line against the current directory. */
export function fromHere(path: string): string {
  return resolve(isAbsolute(path) ? "/" : here(), path);
}

/**
 * Creates the home and its folders. Refuses a home that others could write to or replace. Throws
 * `ProcsupError` `home_unusable` with the reason.
 */
export function prepareHome(home: string): HomePaths {
  const paths = pathsIn(home);
  checkSocketLength(paths.socket);
  // A library may have permission for some folders only. It must not prompt for all.
  const { state } = Deno.permissions.querySync({ name: "read", path: "/" });
  const mayLook = state === "granted";
  try {
    if (mayLook) checkWay(home);
    Deno.mkdirSync(home, { mode: 0o700, recursive: true });
    // Another user may have created a folder meanwhile, where everyone may.
    if (mayLook) checkWay(home);
    checkPrivate(home);
    for (const folder of [paths.records, paths.run, paths.apps]) {
      Deno.mkdirSync(folder, { mode: 0o700, recursive: true });
    }
    return paths;
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable || error instanceof ProcsupError) throw error;
    throw new ProcsupError(
      "home_unusable",
      `Cannot create home "${home}": ${(error as Error).message}`,
    );
  }
}

/** Throws `home_unusable` when other users could replace the home, or a folder above it. */
export function checkWay(home: string): void {
  const problem = wayProblem(home);
  if (problem === undefined) return;
  const owner = Deno.uid() === 0 ? lookAt(home)?.uid : 0;
  throw new ProcsupError("home_unusable", `Refusing home "${home}": ${problem}`, {
    hint: owner
      ? `As its user: sudo -u "#${owner}" procsup --home ${shellWord(home)} …`
      : "Every folder above it must belong to root or to you, and no other user may write to it",
  });
}

function checkPrivate(home: string): void {
  const refuse = (why: string, hint?: string) => {
    throw new ProcsupError("home_unusable", `Refusing home "${home}": ${why}`, { hint });
  };
  const info = Deno.lstatSync(home);
  if (info.isSymlink) refuse("it is a symbolic link");
  if (!info.isDirectory) refuse("it is not a directory");
  if (info.uid !== Deno.uid()) refuse(`it belongs to user ${info.uid}, not to ${Deno.uid()}`);
  const isOpen = (info.mode! & 0o077) !== 0;
  // Closing `/etc`, or a project folder, to other users would break what is there.
  if (isOpen && isForeign(home)) {
    refuse("it is open to other users and has other content: use a separate directory");
  }
  if ((info.mode! & 0o022) !== 0) refuse("others may write to it", `chmod 700 ${shellWord(home)}`);
  if (isOpen) Deno.chmodSync(home, 0o700);
}

/** Whether a directory has contents, but was never a home. */
function isForeign(home: string): boolean {
  const names = Array.from(Deno.readDirSync(home), ({ name }) => name);
  return names.length > 0 && !names.some((name) => `${home}/${name}` === pathsIn(home).lock);
}

/** The kernel's limit for the path of a Unix socket, less what a temporary name beside it needs. */
const MAX_SOCKET_PATH = 95;

/** Throws `home_unusable` for the path of a socket that is too long for the kernel. */
export function checkSocketLength(socket: string): void {
  const length = new TextEncoder().encode(socket).length;
  if (length <= MAX_SOCKET_PATH) return;
  throw new ProcsupError(
    "home_unusable",
    `The socket path "${socket}" is ${length} bytes long, at most ${MAX_SOCKET_PATH} are possible: ` +
      "set PROCSUP_HOME to a shorter path",
  );
}
