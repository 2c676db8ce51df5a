/** The environment that child processes inherit. */

import { textsOf, variablesOf } from "../scan/process_environment.ts";
import { givenEnvironment } from "./lent_variables.ts";
import { OPEN_FILES } from "./ulimits.ts";

/** Variables that a service manager sets for a service, but not for the service's children. */
const SERVICE_VARIABLES = new Set([
  ...["NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC", "FDSTORE", "MAINPID", "SYSTEMD_EXEC_PID"],
  ...["LISTEN_PID", "LISTEN_PIDFDID", "LISTEN_FDS", "LISTEN_FDNAMES", "MANAGERPID"],
  ...["MANAGERPIDFDID", "INVOCATION_ID", "JOURNAL_STREAM", "MEMORY_PRESSURE_WATCH"],
  ...["MEMORY_PRESSURE_WRITE", "XPC_SERVICE_NAME", "RC_SVCNAME"],
]);

/**
 * Without our own variables: inside an app, `PROCSUP_RUN_ID` would make the child part of that app.
 * Without those of a service manager and of OpenTelemetry, which are meant for this process alone: an
 * app would report under the daemon's name.
 */
export function inheritedEnvironment(): Record<string, string> {
  return only((name) => !/^(PROCSUP|OTEL)_/.test(name));
}

/** The same for a shell, without the variables that it manages itself. */
export function shellEnvironment(): Record<string, string> {
  return only((name) => !/^PROCSUP_|^(_|SHLVL|PWD|OLDPWD)$/.test(name));
}

/** What a daemon needs of the shell that starts it: search path, user, language, proxies. */
const DAEMON_VARIABLES =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|XDG_\w+|DBUS_SESSION_BUS_ADDRESS|SSL_CERT_\w+|DENO_\w+|(https?|no|all)_proxy)$/i;

/** The environment of a daemon that a command starts: the same, whatever shell that was. */
export function daemonEnvironment(): Record<string, string> {
  return only((name) => DAEMON_VARIABLES.test(name));
}

/** The environment of a running daemon, for the next one; undefined if it cannot be read. */
export function environmentOfDaemon(pid: number): Record<string, string> | undefined {
  const env = variablesOf(textsOf(`/proc/${pid}/environ`));
  if (Object.keys(env).length === 0) return undefined;
  const ours = (name: string) => name.startsWith("PROCSUP_") && name !== OPEN_FILES;
  return only((name) => !ours(name), givenEnvironment(env));
}

function only(
  kept: (name: string) => boolean,
  env: Readonly<Record<string, string>> = Deno.env.toObject(),
): Record<string, string> {
  const entries = Object.entries(withoutNodeShim(env));
  return Object.fromEntries(entries.filter(([name]) => kept(name) && !SERVICE_VARIABLES.has(name)));
}

/** Set by Deno when it has added the folder. */
const MARK = "DENO_NODE_SHIM_ACTIVE";

/**
 * An environment without the `node` of Deno: without Node, Deno adds a folder to the front of its
 * children's `PATH`, in which `node` is Deno itself. Apps must not get it: one that needs Node must
 * find out that it is missing, and the folder disappears with that Deno.
 */
export function withoutNodeShim(env: Readonly<Record<string, string>>): Record<string, string> {
  const { [MARK]: mark, ...rest } = env;
  if (mark === undefined || rest.PATH === undefined) return rest;
  return { ...rest, PATH: withoutShimFolder(rest.PATH) };
}

/** A search path without that folder. */
export function withoutShimFolder(path: string): string {
  return path.split(":").filter((entry) => !entry.endsWith("/node_compat_bin")).join(":");
}
